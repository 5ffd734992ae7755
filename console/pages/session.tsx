import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef } from 'react';
import { originWords } from '../../src/core/log/origin.ts';
import type { ReportRun } from '../../src/core/report/report.ts';
import { branchTitle, entryLabel, entryTag, salvageText } from '../../src/core/report/report-words.ts';
import { plural } from '../../src/core/text/words.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import type { RunData } from '../../src/core/wire/session-shapes.ts';
import { useKeys } from '../parts/keys.tsx';
import { CommandHint, ErrorPanel } from '../parts/panels.tsx';
import { useNow } from '../parts/shell.tsx';
import { Mark, type MarkName, StateMark } from '../parts/state-mark.tsx';
import { ago, clock } from '../parts/times.ts';
import { read } from '../state/api.ts';
import type { SessionSearch } from '../state/search.ts';
import { SessionActions } from './session-actions.tsx';
import { StepPanel } from './step-panel.tsx';
import { type StepRow as Row, stepRows } from './step-rows.ts';

type SessionData = ConsoleReply<'session'>;

export function Session() {
  const { session } = useParams({ from: '/sessions/$session' });
  const { data, error } = useQuery({ queryKey: ['session', session], queryFn: () => read('session', { session }) });
  const navigate = useNavigate();
  useKeys({ u: () => void navigate({ to: '/', search: {} }) });
  if (error !== null && data === undefined) return <ErrorPanel error={error} />;
  if (data === undefined) return <p className="meta">Reading the session …</p>;
  return <OpenSession data={data} />;
}

function OpenSession({ data }: { readonly data: SessionData }) {
  const { run: asked } = useSearch({ from: '/sessions/$session' });
  const standing = data.runs.find(({ runId }) => runId === asked) ?? data.runs[0];
  const record = data.record.runs.find(({ runId }) => runId === standing?.runId);
  const { salvage, origin } = data.record;
  return (
    <>
      <header className="page-head">
        <p className="crumbs">
          <Link to="/" search={{}}>
            Sessions
          </Link>
          <span aria-hidden="true"> / </span>
          {data.shortId}
        </p>
        <h1>{data.title ?? 'A session that cannot be read'}</h1>
        <SessionActions data={data} runId={standing?.runId} />
      </header>
      {salvage === undefined ? null : (
        <p className="banner damaged" role="status">
          {salvageText(salvage)}
        </p>
      )}
      {origin === undefined ? null : (
        <p className="banner" role="status">
          {originWords(origin)}
        </p>
      )}
      {data.runs.length > 1 ? <Runs data={data} chosen={standing?.runId} /> : null}
      {standing === undefined || record === undefined ? (
        <p className="panel">Nothing of this session can be read.</p>
      ) : (
        <Run key={record.runId} sessionId={data.sessionId} run={record} standing={standing} />
      )}
      <CommandHint command={`workrail session show ${data.shortId}`} />
    </>
  );
}

function Runs({ data, chosen }: { readonly data: SessionData; readonly chosen: string | undefined }) {
  return (
    <nav className="runs" aria-label="Runs of this session">
      {data.runs.map((run) => (
        <Link
          key={run.runId}
          to="/sessions/$session"
          params={{ session: data.sessionId }}
          search={{ run: run.runId }}
          aria-current={run.runId === chosen ? 'page' : undefined}
        >
          <Mark name={markOf(run)} /> {run.workflowName ?? run.workflowId} <span className="meta">{run.tag}</span>
        </Link>
      ))}
    </nav>
  );
}

function markOf({ status, isClosed, blockers }: RunData): MarkName {
  if (isClosed) return 'closed';
  if (status === 'blocked') return waitsForPerson(blockers) ? 'waiting' : 'blocked';
  return status === 'complete' || status === 'complete_with_gaps' ? 'complete' : 'running';
}

function waitsForPerson(blockers: RunData['blockers']): boolean {
  return blockers.some(({ code }) => code === 'USER_ONLY_DEPENDENCY');
}

type RunParts = { readonly sessionId: string; readonly run: ReportRun; readonly standing: RunData };

function Run({ sessionId, run, standing }: RunParts) {
  const search = useSearch({ from: '/sessions/$session' });
  const navigate = useNavigate({ from: '/sessions/$session' });
  const isAll = search.branches === 'all';
  const rows = useMemo(() => stepRows(run, isAll), [run, isAll]);
  const chosen =
    rows.find(({ nodeId }) => nodeId === search.step) ?? rows.findLast(({ kind }) => kind !== 'stub') ?? rows[0];
  // A second key may be pressed before the address has changed.
  const latest = useRef(chosen?.nodeId);
  latest.current = chosen?.nodeId;
  const go = (next: SessionSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const showAll = () => {
    const { branches: _, ...rest } = search;
    void navigate({ search: isAll ? rest : { ...rest, branches: 'all' }, replace: true });
  };
  const choose = (row: Row | undefined) => row && (row.kind === 'stub' ? showAll() : go({ step: row.nodeId }));
  const move = (by: number) => {
    const from = rows.findIndex(({ nodeId }) => nodeId === latest.current);
    const next = rows[Math.min(rows.length - 1, Math.max(0, from + by))];
    if (next === undefined) return;
    latest.current = next.nodeId;
    go({ step: next.nodeId });
  };
  useKeys({ j: () => move(1), k: () => move(-1), b: showAll });
  return (
    <>
      <Sentence standing={standing} />
      <div className="run">
        <section className="steps" aria-label="Steps">
          <div role="grid" aria-label="Steps of the run" aria-rowcount={rows.length} tabIndex={0}>
            {rows.map((row, i) => (
              <StepRow key={row.key} row={row} index={i} isChosen={row === chosen} onChoose={() => choose(row)} />
            ))}
          </div>
          {run.branches.length > 1 ? (
            <button type="button" className="quiet" onClick={showAll}>
              {isAll ? 'Hide the other branches' : `Show all ${run.branches.length} branches`}
            </button>
          ) : null}
        </section>
        {chosen === undefined || chosen.kind === 'stub' ? null : (
          <StepPanel
            sessionId={sessionId}
            run={run}
            place={chosen}
            standing={standing}
            tab={search.tab ?? (chosen.kind === 'due' ? 'prompt' : 'notes')}
            onTab={(tab) => go({ tab })}
          />
        )}
      </div>
    </>
  );
}

/** What is going on, who must act, since when and how often it was tried. */
function Sentence({ standing }: { readonly standing: RunData }) {
  const now = useNow();
  const { place, stepsTotal, attempts, blockers, gaps, lastAt, answer } = standing;
  const mark = markOf(standing);
  const at = place.kind === 'step' ? `${numbered(place.position, stepsTotal)} "${place.title}"` : 'the start';
  const since = lastAt === undefined ? '' : ` ${ago(lastAt, now)}`;
  const tried = attempts > 1 ? `, tried ${attempts} times` : '';
  return (
    <section className={`sentence ${mark}`} aria-label="Where the run stands">
      <p>
        <StateMark name={mark} />{' '}
        {mark === 'complete'
          ? `The last step was finished${since}.`
          : `${mark === 'waiting' ? 'You must decide' : mark === 'blocked' ? 'Blocked' : 'At'} ${mark === 'running' ? at : `at ${at}`}${tried}. Last activity${since}.`}{' '}
        {mark === 'waiting' ? <Link to="/waiting">Answer it</Link> : null}
      </p>
      {gaps.length === 0 ? null : (
        <details>
          <summary>{plural(gaps.length, 'follow-up')} open</summary>
          <ul>
            {gaps.map(({ summary, severity, place: left }, i) => (
              <li key={i}>
                {summary} <span className="meta">{left === undefined ? severity : `${severity}, "${left.title}"`}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {answer === undefined ? null : <p>The draft was {answer.words}.</p>}
      {mark === 'blocked' || mark === 'waiting'
        ? blockers.map(({ code, message, suggestedFix }, i) => (
            <p key={i} className="blocker">
              {message} {mark === 'blocked' ? <span className="meta">{suggestedFix}</span> : null}
              <span className="meta"> {code}</span>
            </p>
          ))
        : null}
    </section>
  );
}

function numbered(position: number | undefined, of: number | undefined): string {
  if (position === undefined) return 'the step';
  return of === undefined ? `step ${position}` : `step ${position} of ${of}`;
}

type StepRowParts = {
  readonly row: Row;
  readonly index: number;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
};

function StepRow({ row, index, isChosen, onChoose }: StepRowParts) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) place.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    <div
      ref={place}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={isChosen}
      className={`step ${row.kind}`}
      style={{ paddingLeft: 8 + 20 * row.depth }}
      onClick={onChoose}
    >
      <StepCells row={row} />
    </div>
  );
}

function StepCells({ row }: { readonly row: Row }) {
  if (row.kind === 'stub') {
    return (
      <span role="gridcell">
        {branchTitle(row.branch.name)} · {plural(row.entries, 'entry', 'entries')}, folded
      </span>
    );
  }
  if (row.kind === 'due') {
    return (
      <>
        <span role="gridcell">
          <Mark name={row.isCurrent ? 'running' : 'closed'} />
        </span>
        <span role="rowheader" className="step-title">
          {row.title} <span className="meta">{row.isCurrent ? 'now' : 'stopped here'}</span>
        </span>
      </>
    );
  }
  const { entry, number, took, branch } = row;
  const mark = { start: 'running', step: 'complete', blocked_attempt: 'blocked', checkpoint: 'checkpoint' } as const;
  const tag = entryTag(entry);
  const badges = [
    ...(tag === undefined ? [] : [tag]),
    ...(entry.divergences.length === 0 ? [] : ['departed']),
    ...(entry.skipped.length === 0 ? [] : [`${entry.skipped.length} skipped`]),
    ...(branch.name === 'main' ? [] : [branchTitle(branch.name)]),
  ];
  return (
    <>
      <span role="gridcell">
        <Mark name={mark[entry.kind]} />
      </span>
      <span role="rowheader" className="step-title">
        {entry.kind === 'checkpoint' ? '' : `${number} `}
        {entryLabel(entry)}
      </span>
      <span role="gridcell" className="badges">
        {badges.map((badge) => (
          <span key={badge} className="badge">
            {badge}
          </span>
        ))}
      </span>
      <span role="gridcell" className="meta time">
        {entry.at === undefined ? '' : clock(entry.at)}
        {took === '' ? '' : ` · ${took}`}
      </span>
    </>
  );
}
