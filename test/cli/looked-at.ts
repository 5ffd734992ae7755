import type { Services } from '../../src/app/services.ts';
import type { SessionAccess } from '../../src/cli/program.ts';
import { type Engine, type EngineParts, engine, WORKSPACE } from '../examples/engine.ts';
import { runFake } from './fake-program.ts';

export const MINUTE_MS = 60_000;
/** Noon in the time zone of the tests. */
const START = new Date(2026, 10, 15, 12, 0, 0).getTime();

/** A machine with sessions, and commands that view them. */
export type LookedAtWorld = Engine & {
  /** Lets time pass. */
  readonly wait: (ms: number) => void;
  readonly sessionAccess: (more?: Partial<SessionAccess>) => SessionAccess;
  /** Runs a command as in a terminal of this width. */
  readonly look: (argv: readonly string[], columns?: number) => ReturnType<typeof runFake>;
};

export function lookedAtWorld(parts: EngineParts = {}): LookedAtWorld {
  let nowMs = START;
  const clock: Services['clock'] = { nowMs: () => nowMs };
  const made = engine({ ...parts, services: { ...parts.services, clock } });
  const sessionAccess: LookedAtWorld['sessionAccess'] = (more = {}) => ({
    ...made.services,
    folder: WORKSPACE,
    columns: () => 80,
    ...more,
  });
  return {
    ...made,
    wait: (ms) => {
      nowMs += ms;
    },
    sessionAccess,
    look: (argv, columns = 80) => runFake({ argv, sessionAccess: sessionAccess({ columns: () => columns }) }),
  };
}
