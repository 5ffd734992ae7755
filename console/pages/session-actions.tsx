import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { markText } from '../../src/core/wire/console-commands.ts';
import type { ConsoleInput, ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { useKeys } from '../parts/keys.tsx';
import { Button, ErrorPanel } from '../parts/panels.tsx';
import { IS_TEAM, read, write } from '../state/api.ts';
import { compared, exported, notice, offeredFile } from '../state/told.ts';
import { isViewed, viewedOf } from '../state/viewed.ts';

type SessionData = ConsoleReply<'session'>;
type Parts = { readonly data: SessionData; readonly runId: string | undefined };

/** What a person can do with a session: hand it to a new chat, share it, compare it, put it away. */
export function SessionActions({ data, runId }: Parts) {
  return isViewed(data.sessionId) ? <FileActions data={data} /> : <StoredActions data={data} runId={runId} />;
}

/** A file is only shown. */
function FileActions({ data }: { readonly data: SessionData }) {
  const viewed = viewedOf(data.sessionId);
  return (
    <div className="banner" role="status">
      <p>
        {viewed?.file.name ?? 'This file'} is shown in this browser only. It was not imported, and nothing was written.{' '}
        {!IS_TEAM && <Button label="Import …" onClick={() => offeredFile.set(viewed?.file)} />}
      </p>
      {viewed?.problem && <p className="warning">{viewed.problem}</p>}
    </div>
  );
}

function StoredActions({ data, runId }: Parts) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { sessionId, shortId, isKept, runs, health } = data;
  const isClosed = runs.length > 0 && runs.every((run) => run.isClosed);
  const marked = useMutation({
    mutationFn: (mark: ConsoleInput<'mark'>['mark']) => write('mark', { session: sessionId }, { mark }),
    onSuccess: () => queries.invalidateQueries(),
  });
  const copied = useMutation({
    mutationFn: async () => {
      const { prompt } = await read('resume', { session: sessionId, run: runId ?? '' });
      await navigator.clipboard.writeText(prompt);
    },
  });
  const restore = () =>
    marked.mutate('restored', { onSuccess: () => notice.set({ words: 'The session was restored.' }) });
  const remove = () =>
    marked.mutate('deleted', {
      onSuccess: () => {
        notice.set({ words: 'Moved the session to the bin.', undo: restore });
        void navigate({ to: '/', search: {} });
      },
    });
  const share = () => exported.set([{ sessionId, shortId }]);
  const first = compared.use();
  const compare = useComparing(data, runId);
  useKeys({ e: share, ...(health.kind === 'healthy' && { d: compare }) });
  const error = marked.error ?? copied.error;
  const isWhole = health.kind === 'healthy';
  const isOpen = runs.some(({ status }) => status === 'in_progress' || status === 'blocked');
  const isDone = runs.some((run) => run.runId === runId && run.status?.startsWith('complete'));
  return (
    <>
      <div className="actions">
        {isWhole && isDone && !IS_TEAM && (
          <Button
            label="Make a workflow of it"
            onClick={() =>
              void navigate({ to: '/workflows/new', search: { session: sessionId, ...(runId && { run: runId }) } })
            }
          />
        )}
        {isWhole && isOpen && (
          <Button
            label={copied.isSuccess ? 'Copied: paste it into a new chat' : 'Copy resume prompt'}
            onClick={() => copied.mutate()}
          />
        )}
        <Button label="Export …" className="quiet" onClick={share} />
        {isWhole && (
          <>
            <Button
              label={first === undefined ? 'Compare …' : `Compare with "${first.words}"`}
              className="quiet"
              onClick={compare}
            />
            <Button
              label={isClosed ? 'Reopen' : 'Close'}
              className="quiet"
              title={markText(isClosed ? 'open' : 'closed', [shortId])}
              onClick={() => marked.mutate(isClosed ? 'open' : 'closed')}
            />
            <Button
              label={isKept ? 'Stop keeping' : 'Keep'}
              className="quiet"
              title={markText(isKept ? 'not_kept' : 'kept', [shortId])}
              onClick={() => marked.mutate(isKept ? 'not_kept' : 'kept')}
            />
            <Button label="Delete" className="quiet" title={markText('deleted', [shortId])} onClick={remove} />
          </>
        )}
      </div>
      <ErrorPanel error={error} />
    </>
  );
}

/** The chosen step, or else the branch where work goes on: the first time it is marked, the second time compared. */
function useComparing({ sessionId, title, shortId }: SessionData, runId: string | undefined): () => void {
  const navigate = useNavigate();
  const { step, line } = useSearch({ from: '/sessions/$session' });
  return () => {
    const first = compared.get();
    // Rows that only fold others stand for their branch.
    const node = step?.startsWith('node_') && line !== undefined ? `${line}/${step}` : line;
    if (first === undefined) {
      const words = node === undefined ? (title ?? shortId) : `a step of ${title ?? shortId}`;
      compared.set({ session: sessionId, run: runId, at: node, words });
      notice.set({ words: 'Marked for comparing. Choose the other side and press d again.', undo: forget });
      return;
    }
    forget();
    const sides = { a: first.session, aRun: first.run, aAt: first.at, b: sessionId, bRun: runId, bAt: node };
    void navigate({ to: '/compare', search: Object.fromEntries(Object.entries(sides).filter(([, part]) => part)) });
  };
}

function forget(): void {
  compared.set(undefined);
  notice.set(undefined);
}
