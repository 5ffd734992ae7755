import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { sizeOf } from '../../../src/core/text/words.ts';
import type { ConsoleReply } from '../../../src/core/wire/console-shapes.ts';
import { HANDOVERS, type Handover } from '../../../src/core/wire/team-paths.ts';
import { Button, CommandHint, DataTable, Pending, Select } from '../../parts/panels.tsx';
import { useAbout } from '../../parts/shell.tsx';
import { read } from '../../state/api.ts';
import { Refusal, useChange } from './changes.tsx';

type Space = ConsoleReply<'spaces'>['spaces'][number];
type Rules = NonNullable<Space['rules']>;

/** The spaces in which the person has a role; an admin sees what they hold, and changes the rules of this one. */
export function Spaces() {
  const about = useAbout();
  const { data, error } = useQuery({ queryKey: ['spaces'], queryFn: () => read('spaces') });
  if (data === undefined) return <Pending words="Reading the spaces …" error={error} />;
  const own = data.spaces.find(({ name }) => name === about?.team?.space);
  return (
    <>
      <DataTable
        title="Spaces in which you have a role"
        head={['Space', 'Your role', 'Open sessions', 'Size']}
        rows={data.spaces.map(({ name, role, rules }) => [
          name === own?.name ? (
            name
          ) : (
            <a key="space" href={`/s/${encodeURIComponent(name)}/team/spaces`}>
              {name}
            </a>
          ),
          role,
          ...(rules === undefined ? [FOR_ADMINS, FOR_ADMINS] : filled(rules)),
        ])}
      />
      {own?.rules === undefined ? (
        <p>An admin of a space sees what it holds and may change its rules.</p>
      ) : (
        <>
          <SpaceRules key={own.name} name={own.name} rules={own.rules} />
          <TrustedCi space={own.name} rules={own.rules} />
          <SpaceSources space={own.name} />
        </>
      )}
    </>
  );
}

const FOR_ADMINS = 'shown to admins';
const NEAR = 0.9;

/** How much of each limit is used. A space that is nearly full says so in words. */
function filled({ use, limits }: Rules): readonly [string, string] {
  const near = (share: number) => (share >= 1 ? ', full' : share >= NEAR ? ', nearly full' : '');
  const [open, size] = [use.openSessions / limits.openSessionsMax, use.bytes / limits.bytesMax];
  return [
    `${counted(use.openSessions)} of ${counted(limits.openSessionsMax)}${near(open)}`,
    `${sizeOf(use.bytes)} of ${sizeOf(limits.bytesMax)}${near(size)}`,
  ];
}

function counted(number: number): string {
  return number.toLocaleString('en-US');
}

const HANDOVER_WORDS: { readonly [policy in Handover]: string } = {
  space: 'every agent of the space',
  owner: 'only who started it, or whom it was handed to',
};
const EYES_WORDS = { off: 'any approver', on: 'approvers with no part in it' } as const;
const GB = 1_000_000_000;

function SpaceRules({ name, rules }: { readonly name: string; readonly rules: Rules }) {
  const { handover, isFourEyes, limits } = rules;
  const set = useChange('setSpace', () => `The rules of ${name} were changed.`);
  const [sessions, setSessions] = useState(String(limits.openSessionsMax));
  const [size, setSize] = useState(String(limits.bytesMax / GB));
  const [openSessionsMax, bytesMax] = [Number(sessions), Math.round(Number(size) * GB)];
  const isFit = Number.isInteger(openSessionsMax) && openSessionsMax >= 1 && bytesMax >= 1;
  const isChanged = openSessionsMax !== limits.openSessionsMax || bytesMax !== limits.bytesMax;
  const setLimits = async () => {
    if (openSessionsMax !== limits.openSessionsMax) await set.mutateAsync({ openSessionsMax });
    if (bytesMax !== limits.bytesMax) await set.mutateAsync({ bytesMax });
  };
  const command = [
    `workrail space set ${name} ${handover} --four-eyes ${isFourEyes ? 'on' : 'off'}`,
    `--max-sessions ${isFit ? openSessionsMax : limits.openSessionsMax}`,
    `--max-size ${(isFit ? bytesMax : limits.bytesMax) / GB} --database-url "$DB"`,
  ].join(' ');
  return (
    <>
      <h3>Rules of {name}</h3>
      <p>
        <Select
          label="Who may continue a run"
          value={handover}
          options={HANDOVER_WORDS}
          onPick={(picked) => set.mutate({ handover: HANDOVERS.find((one) => one === picked) ?? 'space' })}
        />
      </p>
      <p>
        <Select
          label="Who may approve"
          value={isFourEyes ? 'on' : 'off'}
          options={EYES_WORDS}
          onPick={(picked) => set.mutate({ isFourEyes: picked === 'on' })}
        />
      </p>
      <h3>Limits of {name}</h3>
      <p>
        With more open sessions, agents start nothing new but continue what they have. Beyond the size, nothing more is
        recorded.
      </p>
      <form className="actions" onSubmit={(event) => event.preventDefault()}>
        <Limit label="Open sessions at most" value={sessions} onType={setSessions} />
        <Limit label="Gigabytes at most" value={size} onType={setSize} />
        <Button
          label="Set the limits"
          className="main"
          disabled={!isFit || !isChanged}
          onClick={() => void setLimits().catch(() => undefined)}
        />
      </form>
      <Refusal error={set.error} page="spaces" />
      <CommandHint command={command} isOfTeam />
    </>
  );
}

/** The CI systems whose jobs verify checks. Only the operator changes them, with a command. */
function TrustedCi({ space, rules: { ci } }: { readonly space: string; readonly rules: Rules }) {
  const command = `workrail space trust ${space} ISSUER --host HOST --repository OWNER/NAME --ref REF --database-url "$DB"`;
  return (
    <>
      <h3>Trusted CI systems</h3>
      {ci.length === 0 ? (
        <p>No job of CI can verify a check of this space.</p>
      ) : (
        <DataTable
          title="CI systems whose jobs verify checks"
          head={['Issuer', 'Host', 'Repositories', 'Branch or tag']}
          rows={ci.map(({ issuer, host, repositories = [], ref = '' }) => [issuer, host, repositories.join(', '), ref])}
        />
      )}
      <CommandHint command={command} isOfTeam />
    </>
  );
}

const COMMIT_SHOWN = 10;

/** Repositories whose workflows agents of the space are offered, and those that wait for an admin. */
function SpaceSources({ space }: { readonly space: string }) {
  const { data, error } = useQuery({ queryKey: ['space-sources'], queryFn: () => read('spaceSources') });
  const accept = useChange('acceptSpaceSource', ({ name }) => `Agents are now offered the workflows of ${name}.`);
  const remove = useChange('removeSpaceSource', ({ name }) => `The workflows of ${name} are no longer offered.`);
  if (data === undefined) return <Pending words="Reading the sources …" error={error} />;
  const waiting = data.sources.find(({ isAccepted }) => !isAccepted)?.source;
  const change =
    waiting === undefined
      ? 'ADDRESS --ref BRANCH'
      : `--accept ${waiting.name}@${waiting.commit.slice(0, COMMIT_SHOWN)}`;
  return (
    <>
      <h3>Workflows from repositories</h3>
      {data.sources.length === 0 ? (
        <p>Agents are offered the bundled workflows and those of their own project.</p>
      ) : (
        <DataTable
          title="Repositories, each at one commit"
          head={['Source', 'Repository', 'Files', 'Change']}
          rows={data.sources.map(({ source: { name, commit, url, ref }, isAccepted, files }) => [
            <span key="name" className="break">
              {name}@{commit.slice(0, COMMIT_SHOWN)}{' '}
              <span className="meta">{isAccepted ? 'in use' : 'waits for an admin'}</span>
            </span>,
            <span key="url" className="break">
              {url} {ref}
            </span>,
            <details key="files">
              <summary>{files.length}</summary>
              <ul>
                {files.map((file) => (
                  <li key={file} className="break">
                    {file}
                  </li>
                ))}
              </ul>
            </details>,
            <span key="change" className="actions">
              {!isAccepted && (
                <Button
                  label="Accept"
                  className="quiet"
                  aria-label={`Accept ${name} at ${commit.slice(0, COMMIT_SHOWN)}`}
                  onClick={() => accept.mutate({ name, commit })}
                />
              )}
              <Button
                label="Remove"
                className="quiet"
                aria-label={`Remove ${name}${isAccepted ? '' : ' that waits'}`}
                onClick={() => remove.mutate({ name })}
              />
            </span>,
          ])}
        />
      )}
      <Refusal error={accept.error ?? remove.error} page="spaces" />
      <CommandHint command={`workrail space source ${space} ${change} --database-url "$DB"`} isOfTeam />
    </>
  );
}

type LimitParts = { readonly label: string; readonly value: string; readonly onType: (value: string) => void };

function Limit({ label, value, onType }: LimitParts) {
  const field = useId();
  return (
    <span className="pick">
      <label htmlFor={field}>{label}</label>
      <input
        id={field}
        value={value}
        size={8}
        inputMode="decimal"
        autoComplete="off"
        onChange={({ target }) => onType(target.value)}
      />
    </span>
  );
}
