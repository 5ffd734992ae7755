import type { Result } from 'neverthrow';

/** What the place that a bundle is written to said. */
export type OutputFailure = { readonly code: 'output_failed'; readonly place: string; readonly cause: string };

/** Takes a bundle piece by piece, as fast as it can. Nothing of it is to be seen before it is finished, where that can be. */
export type BundleOutput = {
  write(bytes: Uint8Array): Promise<Result<void, OutputFailure>>;
  finish(): Promise<Result<void, OutputFailure>>;
  /** Takes back what was written, where that can be. */
  abandon(): Promise<void>;
};
