import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { gapFacts } from '../../src/core/report/gap-words.ts';
import type { ReportEntry } from '../../src/core/report/report.ts';
import { entryFacts, isCheckFact } from '../../src/core/report/report-words.ts';
import type { LaneRow } from '../../src/core/sessions/lanes.ts';
import { visibleText } from '../../src/core/text/visible-text.ts';
import { isAgentsDecision } from '../../src/core/views/node-facts.ts';
import type { RunPageData, StepPageData } from '../../src/core/wire/run-shapes.ts';
import { useKeys } from '../parts/keys.tsx';
import { Note } from '../parts/note.tsx';
import { CommandHint, CopyButton, DataTable, ErrorPanel, Facts, Json, Pending } from '../parts/panels.tsx';
import { Mark } from '../parts/state-mark.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { wholeTime } from '../parts/times.ts';
import { read } from '../state/api.ts';
import { TABS, type Tab } from '../state/session-search.ts';
import { useRead, useSessionId } from '../state/session-source.ts';
import { StepData } from './step-data.tsx';
import { EntryNotes, LineNotes } from './step-notes.tsx';

export type ReadRow = Extract<LaneRow, { kind: 'step' | 'hung' }>;

type Parts = {
  readonly page: RunPageData;
  readonly place: ReadRow;
  readonly isWhole: boolean;
  readonly tab: Tab;
  readonly onTab: (tab: Tab) => void;
};

/** Everything about one step: what was sent, what the agent handed in, and why the run went on as it did. */
export function StepPanel({ page, place, isWhole, tab, onTab }: Parts) {
  useKeys(Object.fromEntries(TABS.map((name, i) => [String(i + 1), () => onTab(name)])));
  const { step, doneBy } = place.kind === 'step' ? place : place.of;
  const { nodeId } = step;
  const { data, error } = useRead('step', { at: { node: nodeId }, query: { by: doneBy, line: place.line } });
  const open = data?.gaps.filter(({ isOpen }) => isOpen).length ?? 0;
  return (
    <section className="step-panel" aria-label="The chosen step">
      <header className="step-head">
        <h2>{titleOf(place)}</h2>
        <p className="meta">{whenOf(place)}</p>
        {isWhole && place.kind === 'step' && step.stepId !== undefined && doneBy !== undefined && (
          <BranchFromHere runId={page.runId} nodeId={nodeId} commit={data?.commit} />
        )}
      </header>
      <Tabs
        label="About this step"
        names={TABS}
        chosen={tab}
        onChoose={onTab}
        marks={open > 0 ? { 'follow-ups': <span className="tab-count">{open}</span> } : {}}
        hasKeys
      >
        {tab === 'prompt' ? (
          <Prompts place={place} />
        ) : tab === 'raw' ? (
          <Raw nodeId={nodeId} by={doneBy} />
        ) : data === undefined ? (
          <Pending words="Reading the step …" error={error} />
        ) : (
          <StepTab tab={tab} data={data} page={page} place={place} />
        )}
      </Tabs>
    </section>
  );
}

function titleOf(place: ReadRow): string {
  if (place.kind === 'step') return place.step.title;
  const what = place.hung.kind === 'checkpoint' ? 'Checkpoint' : `Attempt ${place.nth}`;
  return `${what} at ${place.of.step.title}`;
}

function whenOf(place: ReadRow): string {
  const line = place.line === 'main' ? '' : ` · branch ${place.line}`;
  if (place.kind === 'hung') return `${place.hung.at === undefined ? '' : wholeTime(place.hung.at)}${line}`;
  const { endedAt } = place;
  const { startedAt, state } = place.step;
  const start = startedAt === undefined ? '' : wholeTime(startedAt);
  if (state === 'complete') return `${start}${line}`;
  const end = endedAt === undefined ? (state === 'due' ? ', not finished yet' : '') : `, done ${wholeTime(endedAt)}`;
  return `${start && `begun ${start}`}${end}${line}`;
}

type TabParts = {
  readonly tab: Exclude<Tab, 'prompt' | 'raw'>;
  readonly data: StepPageData;
  readonly page: RunPageData;
  readonly place: ReadRow;
};

/** What was handed in at the chosen place. */
function entryAt({ entry, hung }: StepPageData, place: ReadRow): ReportEntry | undefined {
  return place.kind === 'step' ? entry : hung.find(({ nodeId }) => nodeId === place.nodeId);
}

function StepTab({ tab, data, page, place }: TabParts) {
  const entry = entryAt(data, place);
  switch (tab) {
    case 'notes':
      return place.kind === 'hung' ? (
        <EntryNotes entry={entry} isDraft={place.hung.kind === 'blocked_attempt'} />
      ) : (
        <LineNotes
          runId={page.runId}
          line={place.line}
          nodeId={place.doneBy === undefined ? undefined : place.nodeId}
        />
      );
    case 'why':
      return <Why data={data} entry={entry} page={page} place={place} />;
    case 'data':
      return <StepData data={data} entry={entry} />;
    case 'follow-ups':
      return <FollowUps data={data} place={place} />;
  }
}

/** What the agent was sent at the step, and after each attempt that was blocked. */
function Prompts({ place }: { readonly place: ReadRow }) {
  const attempts =
    place.kind === 'step' ? (place.step.hung ?? []).filter(({ kind }) => kind === 'blocked_attempt') : [];
  return (
    <>
      <Prompt nodeId={place.nodeId} />
      {attempts.map(({ nodeId }, i) => (
        <Later key={nodeId} title={`After attempt ${i + 1} was blocked`}>
          <Prompt nodeId={nodeId} />
        </Later>
      ))}
    </>
  );
}

/** What is only read when it is opened. */
function Later({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="later" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen ? children : null}
    </details>
  );
}

function Prompt({ nodeId }: { readonly nodeId: string }) {
  const { data, error } = useRead('prompt', {
    at: { node: nodeId },
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (data === undefined) return <Pending words="Reading what was sent …" error={error} />;
  return (
    <>
      <p className="meta">
        {data.isStored
          ? 'Exactly what the agent was sent. Tokens are shown as "…".'
          : 'The first reply of a run is not stored. This is rendered again from the log, without warnings. Tokens are shown as "…".'}
      </p>
      <pre className="prompt" tabIndex={0}>
        {visibleText(data.text)}
      </pre>
      <CopyButton text={data.text} label="Copy the prompt" />
    </>
  );
}

/** Shown in other places, or by rows of their own. */
const OWN_PLACES = new Set(['Decision', 'Context set', 'Skipped']);

type WhyParts = {
  readonly data: StepPageData;
  readonly entry: ReportEntry | undefined;
  readonly page: RunPageData;
  readonly place: ReadRow;
};

function Why({ data, entry, page, place }: WhyParts) {
  const all = [data.start, entry].flatMap((one) => (one === undefined ? [] : entryFacts(one)));
  const facts = all.filter(([name]) => !OWN_PLACES.has(name) && !isCheckFact(name));
  const decisions = all.filter(([name]) => name === 'Decision');
  const checks = entry?.checks ?? [];
  const next = nextTitle(page, place);
  return (
    <>
      {next && (
        <details className="trace">
          <summary>{next}</summary>
          {decisions.length === 0 ? (
            <p className="meta">It is the next step of the workflow; nothing had to be decided.</p>
          ) : (
            <ol>
              {decisions.map(([, text], i) => (
                <li key={i}>{visibleText(text)}</li>
              ))}
            </ol>
          )}
        </details>
      )}
      {checks.length > 0 && <Checks checks={checks} />}
      {facts.length > 0 && <Facts facts={facts.map(([name, text]) => [name, visibleText(text)])} />}
      {!next && checks.length === 0 && facts.length === 0 && <p className="meta">Nothing was decided here.</p>}
    </>
  );
}

/** The choice that was made when the step was done. */
function nextTitle({ lines }: RunPageData, place: ReadRow): string | undefined {
  if (place.kind !== 'step' || place.doneBy === undefined) return undefined;
  const next = lines.find(({ name }) => name === place.line)?.steps.find(({ nodeId }) => nodeId === place.doneBy);
  if (next === undefined) return undefined;
  return next.state === 'complete' ? 'The run was complete after this step.' : `The run went on with "${next.title}".`;
}

/** How well each check is known to have passed. */
function Checks({ checks }: { readonly checks: NonNullable<ReportEntry['checks']> }) {
  const rows = checks.map(({ checkId, grade, minimum, run = '' }) => [
    checkId,
    <span key="grade" className={`grade ${grade ?? 'none'}`}>
      {grade ?? 'not shown'}
    </span>,
    minimum,
    visibleText(run),
  ]);
  return <DataTable title="Evidence" head={['Check', 'Known as', 'Must be', 'Last run']} rows={rows} />;
}

/** What is open, what was fixed, and the drafts that were not taken. */
function FollowUps({ data, place }: { readonly data: StepPageData; readonly place: ReadRow }) {
  const attempts = data.hung.flatMap((entry) =>
    entry.kind === 'blocked_attempt' && (place.kind === 'step' || entry.nodeId === place.nodeId) ? [entry] : [],
  );
  const gaps = place.kind === 'step' ? data.gaps : [];
  if (gaps.length === 0 && attempts.length === 0) return <p className="meta">Nothing is open here.</p>;
  return (
    <>
      {gaps.map((gap) => (
        <article key={gap.gapId} className={gap.isOpen ? 'gap open' : 'gap'}>
          <p className="strong">{visibleText(gap.summary)}</p>
          <p className="meta">
            {gap.isOpen ? 'open' : isAgentsDecision(gap) ? 'decided by the agent' : 'resolved'} ·{' '}
            {gapFacts(gap, { branches: [] }).join(' · ')}
          </p>
        </article>
      ))}
      {attempts.map((entry, i) => (
        <article key={entry.nodeId} className="attempt">
          <h3>
            <Mark name="blocked" /> Attempt {place.kind === 'hung' ? place.nth : i + 1}
            <span className="meta"> {entry.at === undefined ? '' : wholeTime(entry.at)}</span>
          </h3>
          {entry.blockers.map(({ code, message, suggestedFix }, n) => (
            <div key={n} className="blocker">
              <p className="strong">{visibleText(message)}</p>
              {suggestedFix && code !== 'USER_ONLY_DEPENDENCY' && <p>{visibleText(suggestedFix)}</p>}
              <p className="meta">{code}</p>
            </div>
          ))}
          {(entry.answers ?? []).map((words) => (
            <p key={words}>{visibleText(words)}</p>
          ))}
          {entry.notes.length > 0 && (
            <details>
              <summary>The draft that was handed in</summary>
              {entry.notes.map(({ markdown }, n) => (
                <Note key={n} text={markdown} />
              ))}
            </details>
          )}
        </article>
      ))}
    </>
  );
}

function Raw({ nodeId, by }: { readonly nodeId: string; readonly by: string | undefined }) {
  const { data, error } = useRead('raw', { at: { node: nodeId }, query: { by } });
  if (data === undefined) return <Pending words="Reading the events …" error={error} />;
  const ids =
    by === undefined
      ? ([['Due at', nodeId]] as const)
      : ([
          ['Due at', nodeId],
          ['Done by', by],
        ] as const);
  return (
    <>
      <Facts facts={ids.map(([name, id]) => [name, <CommandHint key={name} command={id} />])} />
      <Json value={data.events} />
    </>
  );
}

type BranchParts = { readonly runId: string; readonly nodeId: string; readonly commit: string | undefined };

/** A prompt for a new chat that goes back to this step. Nothing is recorded before the agent does it. */
function BranchFromHere({ runId, nodeId, commit }: BranchParts) {
  const { session, isOwn } = useSessionId();
  const asked = useMutation({ mutationFn: () => read('resume', { session, run: runId }, { node: nodeId }) });
  if (!isOwn) return null;
  return (
    <details className="branch-here" onToggle={({ currentTarget }) => currentTarget.open && asked.mutate()}>
      <summary>Branch from here</summary>
      <p>
        An agent that does this step again makes a new branch. Everything recorded so far is kept. Files and commits are
        not rewound. {commit && <span>The commit then was {commit.slice(0, 12)}.</span>}
      </p>
      <ErrorPanel error={asked.error} />
      {asked.data && (
        <>
          <pre tabIndex={0}>{asked.data.prompt}</pre>
          <CopyButton text={asked.data.prompt} label="Copy the prompt for a new chat" />
        </>
      )}
    </details>
  );
}
