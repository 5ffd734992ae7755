import { useEffect, useMemo, useRef, useState } from 'react';
import { type LaneRow, lanesOf } from '../../src/core/sessions/lanes.ts';
import type { RunPageData } from '../../src/core/wire/run-shapes.ts';
import type { RunData } from '../../src/core/wire/session-shapes.ts';
import { useKeys } from '../parts/keys.tsx';
import { Button, Pending } from '../parts/panels.tsx';
import { toggledRows, useSessionSearch, withToggled } from '../state/session-search.ts';
import { useMoment, useRead } from '../state/session-source.ts';
import { Preferences } from './preferences.tsx';
import { DriftBanner, LackingBanner } from './run-banners.tsx';
import { Sentence } from './run-sentence.tsx';
import { rowTitle, StepList } from './step-list.tsx';
import { StepPanel } from './step-panel.tsx';

type RunParts = { readonly standing: RunData; readonly isWhole: boolean };

export function Run({ standing, isWhole }: RunParts) {
  const { runId } = standing;
  const { data, error } = useRead('run', { at: { run: runId } });
  // An earlier moment of a session is whole, and still cannot be changed.
  const { until } = useMoment();
  return (
    <div className="run-page">
      <Sentence standing={standing} isWhole={isWhole || until !== undefined} />
      <DriftBanner runId={runId} />
      {data === undefined ? (
        <Pending words="Reading the steps …" error={error} />
      ) : (
        <>
          <LackingBanner lacking={data.lacking} />
          <RunSteps page={data} standing={standing} isWhole={isWhole} />
        </>
      )}
    </div>
  );
}

/** Rows that say something of their own; what only folds others is not read. */
function isRead(row: LaneRow): row is Extract<LaneRow, { kind: 'step' | 'hung' }> {
  return row.kind === 'step' || row.kind === 'hung';
}

/** Where work goes on, or the last step of a run that is over. */
function dueRow(rows: readonly LaneRow[], page: RunPageData): LaneRow | undefined {
  const line = page.lines.find(({ isCurrent }) => isCurrent);
  const due = line?.steps.at(-1)?.nodeId;
  const of = rows.filter((row) => row.kind === 'step');
  const found = of.find((row) => row.nodeId === due && row.line === line?.name) ?? of.at(-1);
  const isOver = found?.kind === 'step' && found.step.state === 'complete';
  return isOver ? (of.filter((row) => row.line === line?.name && row !== found).at(-1) ?? found) : found;
}

function useRows(page: RunPageData) {
  const { search, latest, go } = useSessionSearch();
  const { line, step, branches, plan, rows: toggled } = search;
  const isFollowing = search.follow === 'on';
  const lanes = useMemo(
    () =>
      lanesOf(page, {
        toggled: toggledRows(toggled === undefined ? {} : { rows: toggled }),
        isAll: branches === 'all',
        isPlanned: plan === 'shown',
        chosen: line === undefined || step === undefined ? undefined : { line, nodeId: step },
      }),
    [page, toggled, branches, plan, line, step],
  );
  const asked = lanes.rows.find((row) => row.nodeId === step && (line === undefined || row.line === line));
  const chosen = (isFollowing ? undefined : asked) ?? dueRow(lanes.rows, page) ?? lanes.rows[0];
  const choose = (row: LaneRow) => go({ line: row.line, step: row.nodeId, follow: undefined });
  const fold = (row: LaneRow) => {
    if (row.isOpen === undefined) return;
    // A row that is chosen opens what it is in, so the choice moves to what is folded.
    const { rows } = withToggled(latest.current, row.key);
    go({ rows, line: row.line, step: row.nodeId, follow: undefined });
  };
  return { search, go, lanes, chosen, choose, fold, isFollowing };
}

function RunSteps({ page, standing, isWhole }: RunParts & { readonly page: RunPageData }) {
  const { search, go, lanes, chosen, choose, fold, isFollowing } = useRows(page);
  // Two keys may be pressed before the page is drawn again.
  const at = useRef(0);
  at.current = chosen === undefined ? 0 : lanes.rows.indexOf(chosen);
  const moveTo = (index: number) => {
    const next = lanes.rows[Math.min(lanes.rows.length - 1, Math.max(0, index))];
    if (next === undefined) return;
    at.current = lanes.rows.indexOf(next);
    choose(next);
  };
  const moveBy = (by: number) => moveTo(at.current + by);
  const [isAll, isPlanned] = [search.branches === 'all', search.plan === 'shown'];
  const showAll = () => go({ branches: isAll ? undefined : 'all' });
  const showPlan = () => go({ plan: isPlanned ? undefined : 'shown' });
  const follow = () => go({ follow: isFollowing ? undefined : 'on' });
  useKeys({ j: () => moveBy(1), k: () => moveBy(-1), b: showAll, f: follow, o: () => chosen && fold(chosen) });
  return (
    <div className="run">
      <section className="steps" aria-label="Steps">
        <div className="steps-tools">
          {page.lines.length > 1 && (
            <Button
              label={`All ${page.lines.length} branches`}
              className="quiet"
              aria-pressed={isAll}
              onClick={showAll}
            />
          )}
          {page.plan.length > 0 && (
            <Button label="Show plan" className="quiet" aria-pressed={isPlanned} onClick={showPlan} />
          )}
          <Button label="Follow" className="quiet" aria-pressed={isFollowing} onClick={follow} />
          <Preferences page={page} standing={standing} isWhole={isWhole} />
        </div>
        <StepList
          lanes={lanes}
          chosen={chosen}
          isFollowing={isFollowing}
          onChoose={choose}
          onFold={fold}
          onMove={moveBy}
          onMoveTo={moveTo}
        />
        <Announced page={page} />
      </section>
      {chosen === undefined ? null : isRead(chosen) ? (
        <StepPanel
          key={`${chosen.line} ${chosen.nodeId}`}
          page={page}
          place={chosen}
          isWhole={isWhole}
          tab={search.tab ?? defaultTab(chosen, isWhole)}
          onTab={(tab) => go({ tab })}
        />
      ) : (
        <FoldedPanel row={chosen} onFold={() => fold(chosen)} />
      )}
    </div>
  );
}

function defaultTab(row: Extract<LaneRow, { kind: 'step' | 'hung' }>, isWhole: boolean) {
  if (row.kind === 'hung') return row.hung.kind === 'checkpoint' ? ('notes' as const) : ('follow-ups' as const);
  if (row.step.state === 'blocked') return 'follow-ups' as const;
  return row.doneBy === undefined && isWhole ? ('prompt' as const) : ('notes' as const);
}

function FoldedPanel({ row, onFold }: { readonly row: LaneRow; readonly onFold: () => void }) {
  return (
    <section className="step-panel folded" aria-label="The chosen row">
      <h2>{rowTitle(row)}</h2>
      {row.kind === 'skipped' ? (
        <p>Skipped{row.skipped.why === undefined ? '.' : `: it ${row.skipped.why}`}</p>
      ) : row.kind === 'plan' ? (
        <p className="meta">This step may come later. Its condition decides that, if it has one.</p>
      ) : (
        <p>
          <Button label={`${row.isOpen ? 'Fold' : 'Show'} its steps`} onClick={onFold} />
        </p>
      )}
    </section>
  );
}

const SAY_MS = 5_000;

/** Says which step has begun, at most once in five seconds. */
function Announced({ page }: { readonly page: RunPageData }) {
  const due = page.lines.find(({ isCurrent }) => isCurrent)?.steps.at(-1);
  const words = due === undefined ? '' : due.state === 'complete' ? due.title : `Step ${due.number ?? ''} ${due.title}`;
  const [said, setSaid] = useState('');
  const seen = useRef(words);
  const last = useRef(0);
  useEffect(() => {
    if (words === seen.current) return undefined;
    seen.current = words;
    const wait = Math.max(0, last.current + SAY_MS - Date.now());
    const timer = setTimeout(() => {
      last.current = Date.now();
      setSaid(words);
    }, wait);
    return () => clearTimeout(timer);
  }, [words]);
  return (
    <p className="heard" role="status">
      {said}
    </p>
  );
}
