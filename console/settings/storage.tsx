import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { plural, sizeOf } from '../../src/core/text/words.ts';
import { markText, typedCommand } from '../../src/core/wire/console-commands.ts';
import { CommandButton } from '../parts/command.tsx';
import { Button, CommandHint, DataTable, ErrorPanel, Facts, Pending, Select, SessionLink } from '../parts/panels.tsx';
import { wholeTime } from '../parts/times.ts';
import { read, write } from '../state/api.ts';

const DAYS = { 30: '30 days', 90: '90 days', 365: 'a year' };

/** What is stored, what old sessions would free, and what can be restored. */
export function Storage() {
  const [days, setDays] = useState('90');
  const { data, error } = useQuery({
    queryKey: ['storage', days],
    queryFn: () => read('storage', {}, { days }),
    retry: false,
  });
  return (
    <>
      {data === undefined ? (
        <Pending words="Looking at the data folder …" error={error} />
      ) : (
        <Facts
          facts={[
            ['Data folder', data.stored?.dataDir],
            ['Stored', data.stored && `${plural(data.stored.files, 'file')}, ${sizeOf(data.stored.bytes)}`],
            [
              'Would be removed',
              `${plural(data.removed.sessions.length, 'session')}, ${plural(data.removed.fromBin.length, 'deleted session')}, ${sizeOf(data.removed.bytes)}`,
            ],
            [
              'Stays',
              `${data.stayed.recent} recent, ${data.stayed.kept.length} kept, ${data.stayed.inUse.length} in use`,
            ],
          ]}
        />
      )}
      <div className="list-tools">
        <Select label="Keep sessions for" value={days} options={DAYS} onPick={setDays} />
        <CommandButton
          path="collect"
          input={{ days }}
          label="Remove older sessions"
          question={`Sessions without activity for ${days} days are deleted for good. Kept sessions stay.`}
          said={({ removed }) =>
            `Removed ${plural(removed.sessions.length, 'session')}: ${sizeOf(removed.bytes)} freed.`
          }
        />
      </div>
      <CommandHint command={typedCommand('storage', { days })} />
      <Bin />
      <Verification />
    </>
  );
}

/** Reads everything that is stored, so it runs only when asked. */
function Verification() {
  const check = useMutation({ mutationFn: () => read('verify') });
  const damaged = check.data?.sessions.filter(({ findings }) => findings.some(({ severity }) => severity === 'damage'));
  return (
    <section className="part" aria-label="Check every stored byte">
      <h3>Check every stored byte</h3>
      <div className="actions">
        <Button
          label={check.isPending ? 'Checking …' : 'Check every session'}
          disabled={check.isPending}
          onClick={() => check.mutate()}
        />
      </div>
      <ErrorPanel error={check.error} />
      {check.data && damaged && (
        <p role="status" className={damaged.length === 0 ? undefined : 'warning'}>
          {plural(check.data.totals.sessions, 'session')}, {plural(check.data.totals.events, 'event')},{' '}
          {sizeOf(check.data.totals.bytes)}: {damaged.length === 0 ? 'all healthy' : `${damaged.length} damaged`}
        </p>
      )}
      <ul className="plain">
        {damaged?.map(({ sessionId, findings }) => (
          <li key={sessionId}>
            <SessionLink session={sessionId}>{sessionId}</SessionLink>
            <ul className="plain meta break">
              {findings.map(({ what, place, offset = 0 }, i) => (
                <li key={i}>
                  {place}: {what.replaceAll('_', ' ')} at byte {offset}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      <CommandHint command={typedCommand('verify', {})} />
    </section>
  );
}

function Bin() {
  const { data, error, refetch } = useQuery({ queryKey: ['bin'], queryFn: () => read('bin') });
  const restore = useMutation({
    mutationFn: (session: string) => write('mark', { session }, { mark: 'restored' }),
    onSuccess: () => refetch(),
  });
  if (data === undefined) return <Pending words="Reading the bin …" error={error} />;
  return (
    <section className="part" aria-label="Bin">
      <h3>Bin</h3>
      <ErrorPanel error={restore.error} />
      {data.bin.length === 0 ? (
        <p>The bin is empty.</p>
      ) : (
        <>
          <DataTable
            title="Deleted sessions"
            head={['Session', 'Deleted', 'Action']}
            rows={data.bin.map(({ sessionId, deletedAtMs }) => [
              sessionId,
              wholeTime(deletedAtMs),
              <Button
                key="restore"
                label="Restore"
                title={markText('restored', [sessionId])}
                onClick={() => restore.mutate(sessionId)}
              />,
            ])}
          />
          <div className="actions">
            <CommandButton
              path="collect"
              input={{ days: '36500', isBinEmptied: true }}
              label="Empty the bin"
              question={`${plural(data.bin.length, 'deleted session')} can no longer be restored.`}
              said={({ removed }) => `Removed ${plural(removed.fromBin.length, 'deleted session')} for good.`}
            />
          </div>
        </>
      )}
      <CommandHint command={typedCommand('bin', {})} />
    </section>
  );
}
