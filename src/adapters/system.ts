import { createHmac, hash, randomBytes } from 'node:crypto';
import type { AnswerIds, Clock, Hasher, Ids } from '../app/ports/system-services.ts';
import { AttestationId, ID_BYTES, RunId, SessionId } from '../core/log/ids.ts';

export const nodeHasher: Hasher = {
  sha256: (bytes) => `sha256:${hash('sha256', bytes)}`,
  hmacSha256: (key, message) => createHmac('sha256', key).update(message).digest(),
};

const TIME_BYTES = 6;

/** Ids from the system's random source. A session id starts with the time, so that listings sort by age. */
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

/** A launch is named at random when it is first asked for. */
export const answerIds: AnswerIds = {
  attestation: () => AttestationId.of(randomBytes(ID_BYTES)),
  launch: randomBytes(8).toString('hex'),
};

export const systemClock: Clock = { nowMs: () => Date.now() };
