import { useEffect, useRef } from 'react';
import { plural } from '../../src/core/text/words.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import type { RunData } from '../../src/core/wire/session-shapes.ts';
import { useKeys } from '../parts/keys.tsx';
import { Button, Pending } from '../parts/panels.tsx';
import { wholeTime } from '../parts/times.ts';
import { useSessionSearch } from '../state/session-search.ts';
import { useRead } from '../state/session-source.ts';

type Moment = ConsoleReply<'timeline'>['moments'][number];

/** How many moments are drawn around the one that is shown. */
const AROUND = 100;

/** What happened in a session, with a lane for each run. Choosing a moment shows the whole page as it was then. */
export function Timeline({ runs }: { readonly runs: readonly RunData[] }) {
  const { search, go } = useSessionSearch();
  const { data, error } = useRead('timeline');
  const moments = data?.moments ?? [];
  const at = momentAt(moments, search.until);
  const show = (index: number) => {
    const chosen = moments[Math.min(moments.length - 1, Math.max(0, index))];
    if (chosen === undefined) return;
    const isNow = chosen === moments.at(-1);
    go({ until: isNow ? undefined : String(chosen.eventIndex), timeline: 'shown', step: undefined, line: undefined });
  };
  useKeys({ '[': () => show(at - 1), ']': () => show(at + 1) });
  if (data === undefined) return <Pending words="Reading what happened …" error={error} />;
  const moment = moments[at];
  return (
    <section className="timeline" aria-label="Timeline">
      <div className="scrubber">
        <Button label="‹" aria-label="One moment before" disabled={at <= 0} onClick={() => show(at - 1)} />
        <input
          type="range"
          aria-label="The moment that is shown"
          aria-valuetext={moment?.text}
          min={0}
          max={Math.max(0, moments.length - 1)}
          value={at}
          onChange={({ target }) => show(Number(target.value))}
        />
        <Button
          label="›"
          aria-label="One moment later"
          disabled={at >= moments.length - 1}
          onClick={() => show(at + 1)}
        />
        <p role="status">
          {search.until === undefined
            ? `Now, after ${plural(moments.length, 'moment')}`
            : `As it was after moment ${at + 1} of ${moments.length}. Nothing can be changed here.`}
        </p>
        {search.until !== undefined && <Button label="Show it as it is now" onClick={() => show(moments.length - 1)} />}
      </div>
      <Moments moments={moments} at={at} runs={runs} onShow={show} />
    </section>
  );
}

/** The last moment up to an event. */
function momentAt(moments: readonly Moment[], until: string | undefined): number {
  if (until === undefined) return moments.length - 1;
  return Math.max(
    0,
    moments.findLastIndex(({ eventIndex }) => eventIndex <= Number(until)),
  );
}

type Parts = {
  readonly moments: readonly Moment[];
  readonly at: number;
  readonly runs: readonly RunData[];
  readonly onShow: (index: number) => void;
};

function Moments({ moments, at, runs, onShow }: Parts) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const chosen = list.current?.children[at - Math.max(0, at - AROUND)];
    if (chosen instanceof HTMLElement && list.current !== null) {
      list.current.scrollTop = chosen.offsetTop - list.current.clientHeight / 2;
    }
  }, [at]);
  const from = Math.max(0, at - AROUND);
  const laneOf = (runId: string | undefined) => runs.findIndex((run) => run.runId === runId) + 1;
  const lanes = { '--lanes': runs.length + 1 } as React.CSSProperties;
  return (
    <>
      <p className="lanes meta" style={lanes}>
        <span>session</span>
        {runs.map(({ runId, tag, goal }) => (
          <span key={runId} title={goal}>
            {tag}
          </span>
        ))}
      </p>
      <ol className="moments plain" ref={list} tabIndex={0} aria-label="What happened" style={lanes}>
        {moments.slice(from, at + AROUND).map((moment, i) => (
          <li key={moment.eventIndex} className={from + i > at ? 'later' : ''}>
            <span
              className="lane"
              aria-hidden="true"
              style={{ '--lane': laneOf(moment.runId) } as React.CSSProperties}
            />
            <span className="meta">{moment.at ? wholeTime(moment.at) : ''}</span>
            <button type="button" className="quiet" aria-current={from + i === at} onClick={() => onShow(from + i)}>
              {moment.text}
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}
