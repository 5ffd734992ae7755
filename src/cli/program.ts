import type { Result } from 'neverthrow';
import type { AuthorServices } from '../app/author/author-services.ts';
import type { ExportServices } from '../app/bundle/export-session.ts';
import type { ImportServices } from '../app/bundle/import-session.ts';
import type { LocalServices } from '../app/clients/local-services.ts';
import type { BundleOutput, OutputFailure } from '../app/ports/bundle-output.ts';
import type { SessionIndex } from '../app/ports/session-index.ts';
import type { SessionReader } from '../app/ports/session-store.ts';
import type { StoreAudit } from '../app/ports/upkeep.ts';
import type { SourceServices } from '../app/ports/workflow-sources.ts';
import type { ReportServices } from '../app/report.ts';
import type { SessionsServices, UpkeepServices } from '../app/services.ts';
import type { ListServices } from '../app/sessions/list-sessions.ts';

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
export type BundleAccess = {
  readonly services: ExportServices & ImportServices & ReportServices;
  /** Home folders, which reports hide. */
  readonly homes: readonly string[];
  /** All of a file, unless it is larger than any bundle. */
  readonly input: (file: string) => Promise<Result<Uint8Array, InputFailure>>;
  /** A file, or standard output when none is named. */
  readonly output: (file: string | undefined) => Promise<Result<BundleOutput, OutputFailure>>;
};

/** What the demo is played with: a server of its own in a folder of its own. */
export type DemoStage = {
  readonly pause: (ms: number) => Promise<unknown>;
  /** Performs and takes everything away afterwards, also when it was broken off, unless it shall be kept. */
  readonly perform: <T>(
    act: (performance: Performance) => Promise<T>,
    options: { readonly isKept: boolean },
  ) => Promise<T>;
};

type Performance = {
  readonly server: {
    readonly call: (
      tool: string,
      args: { readonly [name: string]: unknown },
    ) => Promise<{ readonly isError: boolean; readonly data: unknown }>;
  };
  readonly dataDir: string;
  /** Runs a command on that folder, and returns what it prints. */
  readonly run: (args: readonly string[]) => Promise<string>;
};

/** What looking at sessions needs. */
export type SessionAccess = SessionsServices & {
  /** Where the person stands. */
  readonly folder: string;
  /** How wide the terminal is; unknown when output goes elsewhere. */
  readonly columns: () => number | undefined;
};

/** What listing sessions needs. */
export type SessionListAccess = ListServices & Pick<SessionAccess, 'workspace' | 'clock' | 'folder' | 'columns'>;

/** Which of the standard streams are a terminal. */
export type Terminal = {
  readonly isInput: () => boolean;
  readonly isOutput: () => boolean;
  readonly isError: () => boolean;
  /** How wide it is; unknown where nothing is shown in one. */
  readonly columns: () => number | undefined;
};

/** How MCP is served. A log is a line of JSON on standard error for everything that happens. */
export type ServeOptions = { readonly isLogged: boolean } & (
  | { readonly transport: 'stdio' }
  /** Port 0 takes any that is free. */
  | { readonly transport: 'http'; readonly port: number }
);

/** A server that runs, or one that said itself why it does not, as a client shows it. */
export type Serving = { readonly url?: string; readonly isRefused?: true };

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
  /** What a person has to type here in place of `workrail`. */
  readonly calledAs: () => string;
  readonly dataDir: () => Promise<string>;
  /** Loaded when a command asks for it, so that the others stay fast. Opens and makes nothing by itself. */
  readonly store: () => Promise<CommandStore>;
  /** Loaded when a command asks for it, like the store. */
  readonly exchange: () => Promise<BundleAccess>;
  /** Loaded when the demo is played. */
  readonly theatre: () => Promise<DemoStage>;
  /** What authors of workflows work with; loaded when a command asks for it. */
  readonly bench: () => Promise<AuthorServices>;
  /** Loaded when sessions are listed, which needs far less than to look at one. */
  readonly listing: () => Promise<SessionListAccess>;
  /** Loaded when a command looks at sessions. */
  readonly overview: () => Promise<SessionAccess>;
  /** What looks after this machine: clients, settings, keys. Loaded when a command asks for it. */
  readonly setup: () => Promise<LocalServices>;
  /** Asks a person; only where there is a terminal. Loaded when there is a question. */
  readonly ask: () => Promise<Ask>;
  /** What is wrong with the settings, a sentence each. */
  readonly configProblems: () => Promise<readonly string[]>;
  /** What changes or removes sessions from outside of a chat; loaded when a command asks for it. */
  readonly upkeep: () => Promise<UpkeepServices>;
  /** Where workflows come from, as far as the user decides it; loaded when a command asks for it. */
  readonly sources: () => Promise<SourceServices>;
  /** Serves MCP until the client hangs up or the process is told to end; tells where, when that is an address. */
  readonly serve: (how: ServeOptions) => Promise<Result<Serving, ServeRefusal>>;
};

/** One of several that a person may choose. */
export type AskChoice = { readonly value: string; readonly label: string; readonly hint?: string };

/** Asks a person at a terminal, on standard error. Every answer is `undefined` when the person broke off. */
export type Ask = {
  readonly choose: (question: {
    readonly message: string;
    readonly choices: readonly AskChoice[];
    readonly chosen: readonly string[];
  }) => Promise<readonly string[] | undefined>;
  readonly confirm: (message: string) => Promise<boolean | undefined>;
  /** One of several. */
  readonly pick: (question: {
    readonly message: string;
    readonly choices: readonly AskChoice[];
  }) => Promise<string | undefined>;
  /** A line of text; what is there already can be changed. */
  readonly write: (question: {
    readonly message: string;
    readonly initial?: string;
    /** What is wrong with a text; it is asked for again. */
    readonly check?: (text: string) => string | undefined;
  }) => Promise<string | undefined>;
};
