import type { SessionReader } from '../app/ports/session-store.ts';
import type { StoreAudit } from '../app/ports/store-audit.ts';

/** The part of the store that commands use. */
export type CommandStore = {
  readonly sessions: SessionReader;
  readonly audit: StoreAudit;
};

/** Which of the standard streams are a terminal. */
export type Terminal = {
  readonly isInput: () => boolean;
  readonly isOutput: () => boolean;
  readonly isError: () => boolean;
};

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
  /** Serves MCP on standard input and output until the client hangs up. */
  readonly serve: () => Promise<void>;
};
