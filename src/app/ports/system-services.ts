import type { Sha256 } from '../../core/json/canonical-json.ts';
import type { AttestationId, RunId, SessionId } from '../../core/log/ids.ts';
import type { HmacSha256 } from '../../core/token/keyring.ts';
import type { CompilePattern } from '../../core/workflow/pattern.ts';

/** Wall-clock time, for display and retention only. Nothing is ordered by it. */
export type Clock = {
  nowMs(): number;
};

/** Creates ids for a start: at random, or the same ones again for a call that its sender has named. */
export type Ids = {
  /** Sorts by time of creation. */
  session(): SessionId;
  run(): RunId;
};

/** What marks an answer as given once, and to this launch of the program. */
export type AnswerIds = {
  attestation(): AttestationId;
  readonly launch: string;
};

/** The cryptographic functions that core receives. */
export type Hasher = {
  readonly sha256: Sha256;
  readonly hmacSha256: HmacSha256;
};

/** The engine for authors' patterns. Loaded only if a pinned workflow has one, which is rare. */
export type PatternEngine = { load(): Promise<CompilePattern> };
