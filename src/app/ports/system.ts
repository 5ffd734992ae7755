import type { Sha256 } from '../../core/json/canonical-bytes.ts';
import type { RunId, SessionId } from '../../core/log/ids.ts';
import type { HmacSha256 } from '../../core/token/keyring.ts';
import type { CompilePattern } from '../../core/workflow/pattern.ts';

/** Wall-clock time, for display and retention only: nothing is ever ordered by it. */
export type Clock = {
  nowMs(): number;
};

/** Mints the ids that cannot be derived from what is known. */
export type Ids = {
  /** Sorts by time of creation. */
  session(): SessionId;
  run(): RunId;
};

/** The cryptography that core is handed as values. */
export type Hasher = {
  readonly sha256: Sha256;
  readonly hmacSha256: HmacSha256;
};

/** The engine for patterns that authors wrote. Loaded when a pinned workflow has one, which few have. */
export type PatternEngine = { load(): Promise<CompilePattern> };
