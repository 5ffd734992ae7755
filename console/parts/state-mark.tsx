import type { SessionState } from '../../src/core/sessions/session-state.ts';

export type MarkName = SessionState | 'lacking' | 'waiting' | 'checkpoint' | 'skipped' | 'branch' | 'round';

/** Every state has a shape of its own, so that it can be told without its colour. */
const SHAPES: { readonly [name in MarkName]: React.JSX.Element } = {
  running: <circle cx="8" cy="8" r="5" fill="currentColor" />,
  blocked: <path d="M8 2 15 14H1Z" fill="currentColor" />,
  complete: <path d="m2.5 8.5 4 4 7-9" fill="none" stroke="currentColor" strokeWidth="2.2" />,
  lacking: (
    <>
      <path d="M8 2 15 14H1Z" fill="none" stroke="currentColor" strokeWidth="1.6" />
      <path d="m5.5 10 2 2 3.5-5" fill="none" stroke="currentColor" strokeWidth="1.6" />
    </>
  ),
  closed: <path d="M3 8h10" stroke="currentColor" strokeWidth="2.2" />,
  salvaged: (
    <>
      <circle cx="8" cy="8" r="5" fill="none" stroke="currentColor" strokeWidth="1.6" />
      <path d="M8 3a5 5 0 0 1 0 10Z" fill="currentColor" />
    </>
  ),
  damaged: <path d="m3 3 10 10M13 3 3 13" stroke="currentColor" strokeWidth="2.2" />,
  waiting: (
    <>
      <circle cx="8" cy="5" r="3" fill="currentColor" />
      <path d="M2 14c0-3.3 2.7-5 6-5s6 1.7 6 5Z" fill="currentColor" />
    </>
  ),
  checkpoint: <path d="M4 2h8v12l-4-3.5L4 14Z" fill="none" stroke="currentColor" strokeWidth="1.6" />,
  branch: <path d="M4 2v12M4 5c0 5 8 2 8 8v1" fill="none" stroke="currentColor" strokeWidth="1.6" />,
  round: <path d="M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3" fill="none" stroke="currentColor" strokeWidth="1.6" />,
  skipped: <circle cx="8" cy="8" r="4.5" fill="none" stroke="currentColor" strokeWidth="1.4" strokeDasharray="2.5 2" />,
};

const WORDS: { readonly [name in MarkName]: string } = {
  running: 'running',
  blocked: 'blocked',
  complete: 'done',
  lacking: 'done with gaps',
  closed: 'closed',
  salvaged: 'partly readable',
  damaged: 'damaged',
  waiting: 'waiting for you',
  checkpoint: 'checkpoint',
  skipped: 'skipped',
  branch: 'branch',
  round: 'round',
};

export function stateWord(name: MarkName): string {
  return WORDS[name];
}

/** The colour of a state. The styles have one of each name. */
export function toned(name: MarkName): React.CSSProperties {
  return { color: `var(--${name})`, borderColor: 'currentColor' };
}

export function Mark({ name }: { readonly name: MarkName }) {
  return (
    <svg className="mark" style={toned(name)} viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      {SHAPES[name]}
    </svg>
  );
}

/** The shape and the word of a state. */
export function StateMark({ name, words = WORDS[name] }: { readonly name: MarkName; readonly words?: string }) {
  return (
    <span className="state" style={toned(name)}>
      <Mark name={name} />
      <span>{words}</span>
    </span>
  );
}
