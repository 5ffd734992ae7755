import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { progressDisplay } from './progress.ts';

const CLEAR = '\r\u001b[K';
const FULL = '█';
const EMPTY = '░';

let shown: string[];
const display = (target: { isTerminal: boolean; isSilent?: boolean }) =>
  progressDisplay({ isSilent: false, ...target, write: (text) => shown.push(text) });

beforeEach(() => {
  shown = [];
  vi.useFakeTimers();
});

afterEach(() => vi.useRealTimers());

describe('progress', () => {
  it('progress is not shown for work that takes less than 300 ms', () => {
    enforces('cli_progress');
    const progress = display({ isTerminal: true });
    progress.show({ label: 'checking', done: 0, total: 2 });
    vi.advanceTimersByTime(299);
    progress.stop();
    vi.advanceTimersByTime(10_000);
    expect(shown).toEqual([]);
  });

  it('progress is a spinner in a terminal while the total is unknown', () => {
    enforces('cli_progress');
    const progress = display({ isTerminal: true });
    progress.show({ label: 'looking' });
    vi.advanceTimersByTime(300);
    expect(shown).toEqual([`${CLEAR}⠋ looking`]);
    vi.advanceTimersByTime(160);
    expect(shown.slice(1)).toEqual([`${CLEAR}⠙ looking`, `${CLEAR}⠹ looking`]);
  });

  it('progress is a bar in a terminal once the total is known, and is cleared at the end', () => {
    enforces('cli_progress');
    const progress = display({ isTerminal: true });
    progress.show({ label: 'looking' });
    progress.show({ label: 'checking', done: 1, total: 4 });
    vi.advanceTimersByTime(300);
    progress.show({ label: 'checking', done: 4, total: 4 });
    vi.advanceTimersByTime(80);
    progress.stop();
    expect(shown).toEqual([
      `${CLEAR}${FULL.repeat(6)}${EMPTY.repeat(18)} 1/4 checking`,
      `${CLEAR}${FULL.repeat(24)} 4/4 checking`,
      CLEAR,
    ]);
  });

  it('progress is an occasional plain line without a terminal', () => {
    enforces('cli_progress');
    const progress = display({ isTerminal: false });
    progress.show({ label: 'checking' });
    vi.advanceTimersByTime(300);
    progress.show({ label: 'checking', done: 3, total: 9 });
    vi.advanceTimersByTime(4_999);
    expect(shown).toEqual(['checking …\n']);
    vi.advanceTimersByTime(1);
    progress.stop();
    expect(shown).toEqual(['checking …\n', 'checking: 3 of 9\n']);
  });

  it('progress is not shown with --quiet', () => {
    enforces('cli_interaction_switches');
    const progress = display({ isTerminal: true, isSilent: true });
    progress.show({ label: 'checking', done: 3, total: 9 });
    vi.advanceTimersByTime(10_000);
    progress.stop();
    expect(shown).toEqual([]);
  });

  it('escape sequences in a progress label are printed, not executed', () => {
    enforces('cli_escapes_not_raw');
    const label = 'a\u001b[2J\u200bb';
    for (const isTerminal of [true, false]) {
      for (const step of [{ label }, { label, done: 1, total: 24 }]) {
        const progress = display({ isTerminal });
        progress.show(step);
        vi.advanceTimersByTime(300);
        progress.stop();
      }
    }
    const seen = 'a\\u001b[2J\\u200bb';
    const bar = `${FULL}${EMPTY.repeat(23)} 1/24`;
    expect(shown.filter((text) => text !== CLEAR)).toEqual([
      `${CLEAR}⠋ ${seen}`,
      `${CLEAR}${bar} ${seen}`,
      `${seen} …\n`,
      `${seen}: 1 of 24\n`,
    ]);
  });
});
