import { acceptCommand, originWords } from '../../src/core/log/origin.ts';
import { salvageText } from '../../src/core/report/report-words.ts';
import { plural } from '../../src/core/text/words.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import type { RunPageData } from '../../src/core/wire/run-shapes.ts';
import { CommandHint } from '../parts/panels.tsx';
import { useRead, useSessionId } from '../state/session-source.ts';
import { isViewed } from '../state/viewed.ts';

/** What must be known before anything of a session is believed. */
export function SessionBanners({ data }: { readonly data: ConsoleReply<'session'> }) {
  const { salvage, origin, health, shortId } = data;
  return (
    <>
      {health.kind !== 'healthy' && (
        <div className="banner damaged" role="status">
          <p>
            <strong>{salvage === undefined ? 'This session is damaged at its start.' : salvageText(salvage)}</strong>{' '}
            {isViewed(data.sessionId) ? '' : 'It can be read and exported, but no agent can continue it.'}
          </p>
          {isViewed(data.sessionId) ? null : <CommandHint command={`workrail session verify ${shortId}`} />}
        </div>
      )}
      {origin && (
        <div className="banner" role="status">
          <p>Not from this machine: {originWords(origin)}.</p>
          {origin.kind === 'imported' && origin.acceptedAt !== undefined ? null : (
            <CommandHint command={acceptCommand(data)} />
          )}
        </div>
      )}
    </>
  );
}

/** The file of the workflow is no longer what this run was started with. */
export function DriftBanner({ runId }: { readonly runId: string }) {
  const { isOwn } = useSessionId();
  const { data } = useRead('drift', { at: { run: runId }, staleTime: 30_000, enabled: isOwn });
  if (data === undefined || data.kind === 'same' || data.kind === 'unknown') return null;
  if (data.kind !== 'changed') {
    return (
      <p className="banner" role="status">
        The file of this workflow is gone. The run continues with the version that it was started with.
      </p>
    );
  }
  const { changes, isReordered } = data;
  return (
    <details className="banner drift">
      <summary>
        The workflow file has changed since this run was started. The run continues with the version it was started
        with. <span className="meta">{plural(changes.length, 'difference')}</span>
      </summary>
      <ul>
        {changes.map(({ part, id, kind, fields }) => (
          <li key={`${part} ${id}`}>
            {part} <code>{id}</code> {kind}
            {fields.length === 0 ? '' : `: ${fields.join(', ')}`}
          </li>
        ))}
        {isReordered ? <li>The steps come in another order.</li> : null}
        {changes.length === 0 && !isReordered ? <li>Only the text around the steps differs.</li> : null}
      </ul>
    </details>
  );
}

/** What a run did without, because something that its workflow prefers was missing. */
export function LackingBanner({ lacking }: Pick<RunPageData, 'lacking'>) {
  if (lacking.length === 0) return null;
  return (
    <details className="banner lacking">
      <summary>A capability was missing, so the better way was not taken at {plural(lacking.length, 'step')}.</summary>
      <ul>
        {lacking.map(({ nodeId, title, summary }) => (
          <li key={`${nodeId} ${summary}`}>
            {title}: {summary}
          </li>
        ))}
      </ul>
    </details>
  );
}
