import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ConsoleInput, ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { ErrorPanel } from '../parts/panels.tsx';
import { read, saveReport, write } from '../state/api.ts';

const FORMATS = { md: 'Markdown', html: 'HTML', json: 'JSON' } as const;

type Parts = { readonly data: ConsoleReply<'session'>; readonly runId: string | undefined };

/** What a person can do with a session: hand it to a new chat, share it, put it away. */
export function SessionActions({ data, runId }: Parts) {
  const queries = useQueryClient();
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
  const saved = useMutation({
    mutationFn: (as: keyof typeof FORMATS) => saveReport(sessionId, as, `workrail-${shortId}.${as}`),
  });
  const error = marked.error ?? copied.error ?? saved.error;
  const isWhole = health.kind === 'healthy';
  return (
    <>
      <div className="actions">
        {isWhole ? (
          <button type="button" onClick={() => copied.mutate()}>
            {copied.isSuccess ? 'Copied: paste it into a new chat' : 'Copy resume prompt'}
          </button>
        ) : null}
        {Object.entries(FORMATS).map(([as, words]) => (
          <button key={as} type="button" className="quiet" onClick={() => saved.mutate(as as keyof typeof FORMATS)}>
            Report as {words}
          </button>
        ))}
        {isWhole ? (
          <button type="button" className="quiet" onClick={() => marked.mutate(isClosed ? 'open' : 'closed')}>
            {isClosed ? 'Reopen' : 'Close'}
          </button>
        ) : null}
        <button type="button" className="quiet" onClick={() => marked.mutate(isKept ? 'not_kept' : 'kept')}>
          {isKept ? 'Stop keeping' : 'Keep'}
        </button>
      </div>
      {error === null ? null : <ErrorPanel error={error} />}
    </>
  );
}
