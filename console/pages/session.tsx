import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { plural } from '../../src/core/text/words.ts';
import type { RunData } from '../../src/core/wire/session-shapes.ts';
import { useKeys } from '../parts/keys.tsx';
import { Button, CommandHint, Pending } from '../parts/panels.tsx';
import { Mark, stateWord } from '../parts/state-mark.tsx';
import { useSessionSearch } from '../state/session-search.ts';
import { useRead, useSessionId } from '../state/session-source.ts';
import { Run } from './run.tsx';
import { SessionBanners } from './run-banners.tsx';
import { isNotesRun, markOf } from './run-sentence.tsx';
import { SessionActions } from './session-actions.tsx';
import { SessionNotes } from './step-notes.tsx';
import '../style/run.css';

const Timeline = lazy(() => import('./timeline.tsx').then((module) => ({ default: module.Timeline })));

const Signatures = lazy(() => import('./signatures.tsx').then((module) => ({ default: module.Signatures })));

export function Session() {
  const navigate = useNavigate();
  const { search, go } = useSessionSearch();
  const { isOwn } = useSessionId();
  const { data, error } = useRead('session');
  const isPast = search.until !== undefined;
  const isTimeline = search.timeline === 'shown' || isPast;
  const hasTimeline = isOwn && data?.health.kind === 'healthy';
  const hasSignatures = hasTimeline && !isPast;
  const turn = () => go({ timeline: isTimeline ? undefined : 'shown', until: undefined });
  useKeys({ u: () => void navigate({ to: '/', search: {} }), ...(hasTimeline && { t: turn }) });
  if (data === undefined) return <Pending words="Reading the session …" error={error} isPage />;
  const runs = inOrder(data.runs);
  const standing = runs.find(({ runId }) => runId === search.run) ?? preferredRun(data.runs);
  return (
    <>
      <header className="page-head">
        <p className="crumbs">
          <Link to="/" search={{}}>
            Sessions
          </Link>
          <span aria-hidden="true"> / </span>
          {[data.shortId, data.branch, data.folder].filter(Boolean).join(' · ')}
        </p>
        <h1>{data.title ?? 'A session that cannot be read'}</h1>
        {!isPast && <SessionActions data={data} runId={standing?.runId} />}
        <Views hasSignatures={hasSignatures} hasTimeline={hasTimeline} isTimeline={isTimeline} onTimeline={turn} />
      </header>
      <SessionBanners data={data} />
      {hasSignatures && search.signatures === 'shown' && (
        <Suspense>
          <Signatures shortId={data.shortId} />
        </Suspense>
      )}
      {hasTimeline && isTimeline && (
        <Suspense>
          <Timeline runs={runs} />
        </Suspense>
      )}
      {standing === undefined ? (
        <p className="panel">Nothing of this session can be read.</p>
      ) : (
        <div className={`session-body${runs.length > 1 ? ' with-runs' : ''}`}>
          {runs.length > 1 ? <Runs runs={runs} chosen={standing.runId} /> : null}
          {isNotesRun(standing) ? (
            <SessionNotes key={standing.runId} run={standing} />
          ) : (
            <Run key={standing.runId} standing={standing} isWhole={data.health.kind === 'healthy' && !isPast} />
          )}
        </div>
      )}
      {isOwn && <CommandHint command={`workrail session show ${data.shortId}`} />}
    </>
  );
}

type ViewParts = {
  readonly hasSignatures: boolean;
  readonly hasTimeline: boolean;
  readonly isTimeline: boolean;
  readonly onTimeline: () => void;
};

/** What can be shown of a session besides its runs. */
function Views({ hasSignatures, hasTimeline, isTimeline, onTimeline }: ViewParts) {
  const { search, go } = useSessionSearch();
  const isShown = search.signatures === 'shown';
  return (
    <div className="views">
      {hasSignatures && (
        <Button
          label="Signatures"
          className="quiet"
          aria-pressed={isShown}
          onClick={() => go({ signatures: isShown ? undefined : 'shown' })}
        />
      )}
      {hasTimeline && (
        <Button label="Timeline" className="quiet" aria-pressed={isTimeline} title="Key t" onClick={onTimeline} />
      )}
    </div>
  );
}

/** Notes that belong to no run come first: they were begun with the session. */
function inOrder(runs: readonly RunData[]): readonly RunData[] {
  return [...runs].sort((a, b) => Number(isNotesRun(b)) - Number(isNotesRun(a)));
}

/** The run that somebody who opens a session wants to see. */
function preferredRun(runs: readonly RunData[]): RunData | undefined {
  const real = runs.filter((run) => !isNotesRun(run));
  const open = real.filter(({ status, isClosed }) => !isClosed && (status === 'in_progress' || status === 'blocked'));
  return open.at(-1) ?? real.at(-1) ?? runs[0];
}

function runWords(run: RunData): string {
  if (isNotesRun(run)) return plural(run.checkpoints, 'note');
  const words = [stateWord(markOf(run)), run.workflowName ?? run.workflowId, run.tag];
  return [...words, ...(run.branches === 0 ? [] : [`${run.branches + 1} branches`])].join(' · ');
}

/** One run is shown at a time. */
function Runs({ runs, chosen }: { readonly runs: readonly RunData[]; readonly chosen: string }) {
  const { searchFor } = useSessionSearch();
  return (
    <nav className="runs" aria-label="Runs of this session">
      {runs.map((run) => (
        <Link
          key={run.runId}
          to="."
          search={searchFor({ run: run.runId })}
          aria-current={run.runId === chosen ? 'page' : undefined}
        >
          <Mark name={isNotesRun(run) ? 'checkpoint' : markOf(run)} />
          <span>
            {isNotesRun(run) ? 'Session notes' : (run.goal ?? run.workflowName ?? run.workflowId)}
            <span className="meta">{runWords(run)}</span>
          </span>
        </Link>
      ))}
    </nav>
  );
}
