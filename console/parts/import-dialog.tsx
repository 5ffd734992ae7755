import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { plural, shellWord, sizeOf } from '../../src/core/text/words.ts';
import type { ConsoleInput, ConsoleLine } from '../../src/core/wire/console-shapes.ts';
import { Refused, readLines } from '../state/api.ts';
import { openBundle } from '../state/open-bundle.ts';
import { notice, offeredFile } from '../state/told.ts';
import type { Viewed } from '../state/viewed.ts';
import { Dialog } from './dialog.tsx';
import { Button, CommandHint, ErrorPanel } from './panels.tsx';

type Line = ConsoleLine<'import'>;
type Done = Extract<Line, { kind: 'done' }>;

/** What importing a file would do, before anything is written. */
export function ImportDialog({ file }: { readonly file: File }) {
  const [line, setLine] = useState<Line>({ kind: 'progress', done: 0, total: 0 });
  const [error, setError] = useState<Error | undefined>(undefined);
  const [viewed, setViewed] = useState<Viewed | undefined>(undefined);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = () => offeredFile.set(undefined);
  const send = useCallback(
    async (query: ConsoleInput<'import'>): Promise<Done | undefined> => {
      try {
        for await (const next of readLines('import', query, { body: file })) {
          setLine(next);
          if (next.kind === 'refused') setError(new Refused(next.error, 409));
          if (next.kind === 'done') return next;
        }
      } catch (failed) {
        setError(failed instanceof Error ? failed : undefined);
      }
      return undefined;
    },
    [file],
  );
  useEffect(() => {
    void send({ dry: '1' });
    // The browser reads it too, so that what is accepted is seen first.
    void openBundle(file).then(setViewed, () => undefined);
  }, [file, send]);
  const bring = async (query: ConsoleInput<'import'>) => {
    const done = await send(query);
    if (done?.sessionId === undefined) return;
    close();
    notice.set({ words: importedWords(done) });
    await queries.invalidateQueries();
    await navigate({ to: '/sessions/$session', params: { session: done.sessionId }, search: {} });
  };
  const look = () => {
    if (viewed === undefined) return;
    close();
    void navigate({ to: '/sessions/$session', params: { session: viewed.key }, search: {} });
  };
  return (
    <Dialog title="Import a session" className="exchange" onClose={close}>
      <p className="meta">
        {file.name} · {sizeOf(file.size)}
      </p>
      {error === undefined ? <DryRun line={line} viewed={viewed} /> : <ErrorPanel error={error} />}
      <div className="actions">
        {line.kind === 'done' && line.what === 'would_import' && error === undefined ? (
          <Choices done={line} onChoose={(query) => void bring(query)} />
        ) : null}
        {viewed && <Button label="Only look at it" onClick={look} />}
        <Button label="Cancel" className="quiet" onClick={close} />
      </div>
      <CommandHint command={`workrail import ${shellWord(file.name)}`} />
    </Dialog>
  );
}

function DryRun({ line, viewed }: { readonly line: Line; readonly viewed: Viewed | undefined }) {
  if (line.kind === 'progress') {
    return <p role="status">Checking the file{line.total === 0 ? ' …' : `: ${line.done} of ${line.total}`}</p>;
  }
  if (line.kind !== 'done') return null;
  const { runs, events, artifacts, isPart, earlier, from, sessionId } = line;
  return (
    <>
      <p>
        The file is intact: {plural(runs, 'run')}, {plural(events, 'event')}, {plural(artifacts, 'artifact')}. Nothing
        was written yet.
      </p>
      <ul className="plain">
        {viewed?.data.runs.map((run) => (
          <li key={run.runId}>
            <span className="strong">{run.goal ?? run.workflowName ?? run.workflowId}</span>{' '}
            <span className="meta">
              {run.workflowId}, {run.source}
            </span>
          </li>
        ))}
      </ul>
      {isPart ? <p className="warning">Only part of a session: it can be read, but not continued.</p> : null}
      {earlier !== undefined ? (
        <p>
          It was imported before.{' '}
          {earlier.newEvents === 0 ? 'Nothing is new in this file.' : `${plural(earlier.newEvents, 'event')} new.`}
        </p>
      ) : sessionId !== from ? (
        <p>Its id is in use here, so it gets a new one.</p>
      ) : null}
      {isPart ? null : (
        <p>
          What agents and people wrote elsewhere would be continued here. Accept it only if you trust where the file
          comes from; without that, agents cannot resume it.
        </p>
      )}
    </>
  );
}

type Choosing = { readonly done: Done; readonly onChoose: (query: ConsoleInput<'import'>) => void };

function Choices({ done: { isPart, earlier }, onChoose }: Choosing) {
  const isUpdate = earlier !== undefined && earlier.newEvents > 0;
  return (
    <>
      {isUpdate && (
        <Button
          label="Update the session here"
          className="main"
          onClick={() => onChoose({ update: '1', accept: '1' })}
        />
      )}
      {!isPart && (
        <Button
          label="Import and accept"
          className={isUpdate ? '' : 'main'}
          onClick={() => onChoose({ accept: '1' })}
        />
      )}
      <Button label="Import only" onClick={() => onChoose({})} />
    </>
  );
}

function importedWords({ what, isAccepted }: Done): string {
  if (what === 'unchanged') return 'Nothing is new: the session is here already.';
  const words = what === 'updated' ? 'The session was updated.' : 'The session was imported.';
  return isAccepted ? `${words} Agents can continue it.` : `${words} Nobody has accepted it yet.`;
}
