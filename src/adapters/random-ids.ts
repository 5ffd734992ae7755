import { randomBytes } from 'node:crypto';
import type { Ids } from '../app/ports/ids.ts';
import type { Clock } from '../app/ports/system.ts';
import { ID_BYTES, RunId, SessionId } from '../core/log/ids.ts';

const TIME_BYTES = 6;

/** Ids from the system's random source; a session id begins with the time, so that listings sort by age. */
export function randomIds(clock: Clock): Ids {
  return {
    session: () => {
      const bits = randomBytes(ID_BYTES);
      bits.writeUIntBE(clock.nowMs(), 0, TIME_BYTES);
      return SessionId.of(bits);
    },
    run: () => RunId.of(randomBytes(ID_BYTES)),
  };
}
