import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import type { ReportEntry, ReportRun } from '../../src/core/report/report.ts';
import { artifactFacts, entryFacts, entryLabel, gapFacts } from '../../src/core/report/report-words.ts';
import { visibleText } from '../../src/core/text/visible-text.ts';
import type { RunData } from '../../src/core/wire/session-shapes.ts';
import { useKeys } from '../parts/keys.tsx';
import { Note } from '../parts/note.tsx';
import { CopyButton, ErrorPanel, Json } from '../parts/panels.tsx';
import { wholeTime } from '../parts/times.ts';
import { read } from '../state/api.ts';
import { TABS, type Tab } from '../state/search.ts';
import type { StepRow } from './step-rows.ts';

type Parts = {
  readonly sessionId: string;
  readonly run: ReportRun;
  readonly standing: RunData;
  readonly place: Exclude<StepRow, { kind: 'stub' }>;
  readonly tab: Tab;
  readonly onTab: (tab: Tab) => void;
};

/** Everything about one step: what was sent, what the agent handed in, and why the run went on as it did. */
export function StepPanel({ sessionId, run, standing, place, tab, onTab }: Parts) {
  const id = useId();
  const bound = Object.fromEntries(TABS.map((name, i) => [String(i + 1), () => onTab(name)]));
  useKeys(bound);
  const entry = place.kind === 'entry' ? place.entry : undefined;
  return (
    <section className="step-panel" aria-label="The chosen step">
      <h2>{entry === undefined ? (place.kind === 'due' ? place.title : '') : entryLabel(entry)}</h2>
      {entry?.at === undefined ? null : <p className="meta">{wholeTime(entry.at)}</p>}
      <div role="tablist" aria-label="About this step" className="tabs">
        {TABS.map((name, i) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={tab === name}
            aria-controls={`${id}-body`}
            tabIndex={tab === name ? 0 : -1}
            title={`Key ${i + 1}`}
            onClick={() => onTab(name)}
          >
            {name[0]?.toUpperCase()}
            {name.slice(1)}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-body`} aria-labelledby={`${id}-${tab}`} tabIndex={0}>
        {tab === 'prompt' ? (
          <Prompt sessionId={sessionId} nodeId={entry?.parentNodeId ?? place.branch.tipNodeId} />
        ) : entry === undefined ? (
          <Due tab={tab} standing={standing} />
        ) : (
          <EntryTab tab={tab} entry={entry} run={run} />
        )}
      </div>
    </section>
  );
}

function Due({ tab, standing }: { readonly tab: Tab; readonly standing: RunData }) {
  if (tab === 'raw') return <Json value={JSON.parse(JSON.stringify(standing.place))} />;
  return <p className="meta">The agent has not finished this step yet.</p>;
}

type EntryParts = { readonly tab: Tab; readonly entry: ReportEntry; readonly run: ReportRun };

function EntryTab({ tab, entry, run }: EntryParts) {
  switch (tab) {
    case 'why':
      return <Facts entry={entry} />;
    case 'data':
      return <Data entry={entry} />;
    case 'follow-ups':
      return <FollowUps entry={entry} run={run} />;
    case 'raw':
      return <Json value={JSON.parse(JSON.stringify(entry))} />;
    default:
      return <Notes entry={entry} />;
  }
}

function Notes({ entry }: { readonly entry: ReportEntry }) {
  if (entry.notes.length === 0) return <p className="meta">No notes.</p>;
  return entry.notes.map(({ markdown, isSuperseded }, i) => (
    <article key={i} className={isSuperseded ? 'superseded' : ''}>
      {isSuperseded ? <p className="meta">Replaced by later notes.</p> : null}
      <Note text={markdown} />
      <CopyButton text={markdown} label="Copy the notes" />
    </article>
  ));
}

function Prompt({ sessionId, nodeId }: { readonly sessionId: string; readonly nodeId: string | null }) {
  const node = nodeId ?? '';
  const { data, error } = useQuery({
    queryKey: ['prompt', sessionId, node],
    queryFn: () => read('prompt', { session: sessionId, node }),
    retry: false,
    staleTime: Infinity,
  });
  if (error !== null) return <ErrorPanel error={error} />;
  if (data === undefined) return <p className="meta">Reading what was sent …</p>;
  return (
    <>
      <p className="meta">Exactly what the agent was sent. Tokens are shown as "…".</p>
      <pre className="prompt" tabIndex={0}>
        {visibleText(data.text)}
      </pre>
      <CopyButton text={data.text} label="Copy the prompt" />
    </>
  );
}

function Facts({ entry }: { readonly entry: ReportEntry }) {
  const facts = entryFacts(entry);
  if (facts.length === 0)
    return <p className="meta">The step followed from the one before; nothing had to be decided.</p>;
  return (
    <dl className="facts">
      {facts.map(([name, text], i) => (
        <div key={i}>
          <dt>{name}</dt>
          <dd>{visibleText(text)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Data({ entry }: { readonly entry: ReportEntry }) {
  if (entry.artifacts.length === 0 && entry.contextKeys.length === 0)
    return <p className="meta">No data was handed in.</p>;
  return (
    <>
      {entry.artifacts.map((artifact) => (
        <article key={artifact.sha256}>
          <h3>
            {artifact.kind ?? 'Artifact'} <span className="meta">{artifactFacts(artifact)}</span>
          </h3>
          {artifact.content === undefined ? (
            <p className="meta">Its content is missing or damaged.</p>
          ) : (
            <Json value={artifact.content} />
          )}
        </article>
      ))}
      {entry.contextKeys.length === 0 ? null : <p>Context keys set: {entry.contextKeys.join(', ')}</p>}
    </>
  );
}

function FollowUps({ entry, run }: { readonly entry: ReportEntry; readonly run: ReportRun }) {
  const gaps = run.gaps.filter(({ nodeId }) => nodeId === entry.nodeId);
  const blockers = entry.kind === 'blocked_attempt' ? entry.blockers : [];
  if (gaps.length === 0 && blockers.length === 0) return <p className="meta">Nothing is open here.</p>;
  return (
    <>
      {blockers.map(({ code, message, suggestedFix }, i) => (
        <article key={i} className="blocker">
          <p className="strong">{visibleText(message)}</p>
          {suggestedFix === undefined ? null : <p>{visibleText(suggestedFix)}</p>}
          <p className="meta">{code}</p>
        </article>
      ))}
      {gaps.map((gap) => (
        <article key={gap.gapId}>
          <p className="strong">{visibleText(gap.summary)}</p>
          <p className="meta">{gapFacts(gap).join(' · ')}</p>
        </article>
      ))}
    </>
  );
}
