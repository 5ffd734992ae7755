import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { ReportEntry } from '../../src/core/report/report.ts';
import type { LineNotesData } from '../../src/core/wire/run-shapes.ts';
import type { RunData } from '../../src/core/wire/session-shapes.ts';
import { Note } from '../parts/note.tsx';
import { Button, CopyButton, Pending } from '../parts/panels.tsx';
import { Mark } from '../parts/state-mark.tsx';
import { clock, wholeTime } from '../parts/times.ts';
import { read } from '../state/api.ts';
import { useMoment, useSessionId } from '../state/session-source.ts';

type NotedPlace = LineNotesData['notes'][number];

/** The notes of one attempt or checkpoint. */
export function EntryNotes({ entry, isDraft }: { readonly entry: ReportEntry | undefined; readonly isDraft: boolean }) {
  if (entry === undefined || entry.notes.length === 0) return <p className="meta">No notes.</p>;
  return (
    <>
      {isDraft ? <p className="meta">A draft: it was blocked, so it does not count as the notes of the step.</p> : null}
      {entry.notes.map(({ markdown }, i) => (
        <article key={i}>
          <Note text={markdown} />
          <CopyButton text={markdown} label="Copy the notes" />
        </article>
      ))}
    </>
  );
}

type Place = { readonly from: number } | { readonly around: string };

function useLineNotes(runId: string, line: string, start: Place) {
  const { session } = useSessionId();
  const moment = useMoment();
  return useInfiniteQuery({
    queryKey: ['notes', session, runId, line, start, moment],
    queryFn: ({ pageParam }) => read('notes', { session, run: runId }, { line, ...moment, ...pageParam }),
    initialPageParam: start,
    getNextPageParam: ({ from, notes, total }: LineNotesData): Place | undefined =>
      from + notes.length < total ? { from: from + notes.length } : undefined,
  });
}

type LineParts = {
  readonly runId: string;
  readonly line: string;
  /** The step to begin with; without one, the run has not finished it. */
  readonly nodeId: string | undefined;
};

/** The notes of a whole branch to read in one go, beginning at the chosen step. */
export function LineNotes({ runId, line, nodeId }: LineParts) {
  const [isFromStart, setFromStart] = useState(false);
  const start = isFromStart || nodeId === undefined ? { from: 0 } : { around: nodeId };
  const { data, error, hasNextPage, fetchNextPage } = useLineNotes(runId, line, start);
  const chosen = useRef<HTMLElement>(null);
  const places = data?.pages.flatMap(({ notes }) => notes) ?? [];
  const isThere = places.some((place) => place.nodeId === nodeId);
  const before = data?.pages[0]?.from ?? 0;
  useEffect(() => {
    if (isThere && !isFromStart) chosen.current?.scrollIntoView({ block: 'start' });
  }, [isThere, isFromStart]);
  if (data === undefined) return <Pending words="Reading the notes …" error={error} />;
  return (
    <>
      {nodeId === undefined ? <p className="meta">The agent has not finished this step yet.</p> : null}
      {nodeId !== undefined && !isThere ? <p className="meta">No notes at this step.</p> : null}
      {before > 0 && <Button label={`${before} earlier`} className="quiet" onClick={() => setFromStart(true)} />}
      {places.map((place, i) => {
        const isChosen = place.nodeId === nodeId && place.kind === 'step';
        return <Place key={i} place={place} isChosen={isChosen} onPlace={isChosen ? chosen : undefined} />;
      })}
      {hasNextPage && <Button label="Read on" className="quiet" onClick={() => void fetchNextPage()} />}
    </>
  );
}

type PlaceParts = {
  readonly place: NotedPlace;
  readonly isChosen: boolean;
  readonly onPlace?: React.RefObject<HTMLElement | null> | undefined;
};

function Place({ place, isChosen, onPlace }: PlaceParts) {
  const { kind, title, number, at, notes } = place;
  return (
    <article ref={onPlace} className={`noted${isChosen ? ' chosen' : ''}`}>
      <h3 className="noted-title">
        <Mark name={kind === 'step' ? 'complete' : 'checkpoint'} />
        {kind === 'step' ? `${number ?? ''} ${title}` : `Checkpoint at ${title}`}
        <span className="meta noted-time">{at === undefined ? '' : clock(at)}</span>
      </h3>
      {notes.map(({ markdown, isSuperseded }, i) => (
        <div key={i} className={isSuperseded ? 'superseded' : ''}>
          {isSuperseded ? <p className="meta">Replaced by later notes.</p> : null}
          <Note text={markdown} />
          <CopyButton text={markdown} label="Copy the notes" />
        </div>
      ))}
    </article>
  );
}

/** Notes that belong to no workflow: from the start of the session, and between its runs. */
export function SessionNotes({ run }: { readonly run: RunData }) {
  const { data, error, hasNextPage, fetchNextPage } = useLineNotes(run.runId, 'main', { from: 0 });
  const places = data?.pages.flatMap(({ notes }) => notes) ?? [];
  return (
    <section className="run-page session-notes" aria-label="Session notes">
      <h2>Session notes</h2>
      {run.goal === undefined ? null : <p>{run.goal}</p>}
      {data === undefined && <Pending words="Reading the notes …" error={error} />}
      {data && places.length === 0 && <p className="meta">No notes yet.</p>}
      {places.map(({ at, notes }, i) => (
        <article key={i} className="noted">
          <h3 className="noted-title">
            <Mark name="checkpoint" /> {at === undefined ? 'A note' : wholeTime(at)}
          </h3>
          {notes.map(({ markdown }, n) => (
            <Note key={n} text={markdown} />
          ))}
        </article>
      ))}
      {hasNextPage && <Button label="Read on" className="quiet" onClick={() => void fetchNextPage()} />}
    </section>
  );
}
