import type { Result } from 'neverthrow';

/** Reading a bundle failed. */
export type InputFailure =
  | { readonly code: 'input_failed'; readonly place: string; readonly cause: string }
  | { readonly code: 'input_too_large'; readonly place: string; readonly size: number; readonly max: number };

/** An encrypted bundle cannot be opened: it has an unknown form, or the passphrase is not the one it was made with. */
export type SealFailure = { readonly code: 'seal_unknown' } | { readonly code: 'passphrase_wrong' };

/** Writing a bundle failed. */
export type OutputFailure =
  | { readonly code: 'output_failed'; readonly place: string; readonly cause: string }
  /** There is a file already. Nothing was written. */
  | { readonly code: 'output_exists'; readonly place: string };

/** Whether a file that exists may be replaced. */
export type OutputOptions = { readonly mayReplace: boolean };

/** Receives a bundle piece by piece. If possible, nothing of it is visible before it is finished. */
export type BundleOutput = {
  write(bytes: Uint8Array): Promise<Result<void, OutputFailure>>;
  finish(): Promise<Result<void, OutputFailure>>;
  /** Removes what was written, if possible. */
  abandon(): Promise<void>;
};

/** Why a report could not be printed as PDF. */
export type PdfFailure =
  | { readonly code: 'no_browser' }
  | { readonly code: 'print_failed'; readonly browser: string; readonly cause: string };
