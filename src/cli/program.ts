import type { Result } from 'neverthrow';
import type { BundleOutput, OutputFailure } from '../app/bundle/bundle-output.ts';
import type { ExportServices } from '../app/bundle/export-session.ts';
import type { ImportServices } from '../app/bundle/import-session.ts';
import type { SessionIndex } from '../app/ports/session-index.ts';
import type { SessionReader } from '../app/ports/session-store.ts';
import type { StoreAudit } from '../app/ports/store-audit.ts';

/** The part of the store that commands use. */
export type CommandStore = {
  readonly sessions: SessionReader;
  readonly sessionIndex: SessionIndex;
  readonly audit: StoreAudit;
};

export type InputFailure =
  | { readonly code: 'input_failed'; readonly place: string; readonly cause: string }
  | { readonly code: 'input_too_large'; readonly place: string; readonly size: number; readonly max: number };

/** What giving sessions away and taking them in needs. */
export type Exchange = {
  readonly services: ExportServices & ImportServices;
  /** All of a file, unless it is larger than any bundle. */
  readonly input: (file: string) => Promise<Result<Uint8Array, InputFailure>>;
  /** A file, or standard output when none is named. */
  readonly output: (file: string | undefined) => Promise<Result<BundleOutput, OutputFailure>>;
};

/** Which of the standard streams are a terminal. */
export type Terminal = {
  readonly isInput: () => boolean;
  readonly isOutput: () => boolean;
  readonly isError: () => boolean;
};

/** How MCP is served. A log is a line of JSON on standard error for everything that happens. */
export type ServeOptions = { readonly isLogged: boolean } & (
  | { readonly transport: 'stdio' }
  /** Port 0 takes any that is free. */
  | { readonly transport: 'http'; readonly port: number }
);

export type ServeRefusal =
  | { readonly code: 'port_taken'; readonly port: number }
  | { readonly code: 'port_refused'; readonly port: number; readonly cause: string };

/** What the commands are handed: everything that touches the world outside of this folder. */
export type Program = {
  readonly version: string;
  readonly argv: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  readonly terminal: Terminal;
  /** Data, to standard output. */
  readonly write: (text: string) => void;
  /** Talk, to standard error. */
  readonly writeError: (text: string) => void;
  readonly dataDir: () => Promise<string>;
  /** Loaded when a command asks for it, so that the others stay fast. Opens and makes nothing by itself. */
  readonly store: () => Promise<CommandStore>;
  /** Loaded when a command asks for it, like the store. */
  readonly exchange: () => Promise<Exchange>;
  /** Serves MCP until the client hangs up or the process is told to end; tells where, when that is an address. */
  readonly serve: (how: ServeOptions) => Promise<Result<{ readonly url?: string }, ServeRefusal>>;
};
