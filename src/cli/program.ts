import type { Result } from 'neverthrow';
import type { AuthorServices } from '../app/author/author-services.ts';
import type { CopyServices } from '../app/bundle/copy-store.ts';
import type { ExportServices } from '../app/bundle/export-session.ts';
import type { ForkServices } from '../app/bundle/fork-session.ts';
import type { ImportServices } from '../app/bundle/import-session.ts';
import type { LocalServices } from '../app/clients/local-services.ts';
import type { PassportServices } from '../app/passport.ts';
import type { ApprovalSigner, FindApprovers, KnownApprovers, OwnApprovers } from '../app/ports/approvers.ts';
import type { SignedInPerson, SpaceSignInRefusal } from '../app/ports/browser-sign-in.ts';
import type {
  BundleOutput,
  InputFailure,
  OutputFailure,
  OutputOptions,
  PdfFailure,
  SealFailure,
} from '../app/ports/bundle-output.ts';
import type { CheckRunner, CommandConfirmations } from '../app/ports/check-runner.ts';
import type { KeyidOf, PublicKey } from '../app/ports/keyring-store.ts';
import type { SessionIndex } from '../app/ports/session-index.ts';
import type { SessionReader } from '../app/ports/session-store.ts';
import type { Store, Upkeep } from '../app/ports/store.ts';
import type { StoreFailure } from '../app/ports/store-failure.ts';
import type { AnswerIds } from '../app/ports/system-services.ts';
import type { DatabaseDanger, SpaceRefusal, TeamDatabase } from '../app/ports/team-database.ts';
import type { StoreAudit } from '../app/ports/upkeep.ts';
import type { ListedSources, SourceServices } from '../app/ports/workflow-sources.ts';
import type { ReportServices } from '../app/report.ts';
import type { AnswerServices, SessionsServices, UpkeepServices } from '../app/services.ts';
import type { ListServices } from '../app/sessions/session-board.ts';
import type { AccessServices } from '../app/team/access.ts';
import type { SignatureTools } from '../core/approvals/approval-signature.ts';
import type { Sha256 } from '../core/json/canonical-json.ts';

/** The part of the store that commands use. */
export type CommandStore = {
  readonly sessions: SessionReader;
  readonly sessionIndex: SessionIndex;
  readonly audit: StoreAudit;
};

/** What export and import need. */
export type BundleAccess = {
  readonly services: ExportServices & ImportServices & ForkServices & ReportServices;
  /** Home folders, which reports hide. */
  readonly homes: readonly string[];
  /** Reads a whole file, unless it is too large for a bundle. */
  readonly input: (file: string) => Promise<Result<Uint8Array, InputFailure>>;
  /** Opens a file for writing, or standard output if none is named. */
  readonly output: (file: string | undefined, options: OutputOptions) => Promise<Result<BundleOutput, OutputFailure>>;
  /** Prints a page as PDF, where a browser is installed that can. */
  readonly pdf: (html: string) => Promise<Result<Uint8Array, PdfFailure>>;
  /** Encrypted bundles. */
  readonly seal: {
    readonly isSealed: (bytes: Uint8Array) => boolean;
    readonly output: (output: BundleOutput, passphrase: string) => Promise<BundleOutput>;
    readonly open: (bytes: Uint8Array, passphrase: string) => Promise<Result<Uint8Array, SealFailure>>;
  };
};

/** What signing, and checking signatures, needs. */
export type PassportAccess = {
  readonly services: PassportServices;
  /** Checks signatures of approvers. */
  readonly signatureTools: SignatureTools;
  /** Reads a whole file, unless it is too large for a bundle. */
  readonly readPassport: (file: string) => Promise<Result<Uint8Array, InputFailure>>;
  /** The Ed25519 public keys in a text of PEM blocks. */
  readonly parseKeys: (text: string) => readonly PublicKey[];
  /** The public keys of this store, the current one first; none before the first run. */
  readonly ownKeys: () => Promise<Result<readonly PublicKey[], StoreFailure>>;
  /** The Ed25519 public keys in a file of PEM blocks; empty if it has none. */
  readonly readKeys: (file: string) => Promise<Result<readonly PublicKey[], InputFailure>>;
};

/** What the demo runs on: a server and a data folder of its own. */
export type DemoStage = {
  readonly pause: (ms: number) => Promise<unknown>;
  /** Runs the demo and removes its folder afterwards, even if it was interrupted, unless it should be kept. */
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
  /** Runs a command on that folder and returns its output. */
  readonly run: (args: readonly string[]) => Promise<string>;
};

/** What the session commands need. */
export type SessionAccess = SessionsServices & {
  /** The user's working directory. */
  readonly folder: string;
  /** The width of the terminal; undefined if output goes elsewhere. */
  readonly columns: () => number | undefined;
};

/** What listing sessions needs. */
export type SessionListAccess = ListServices & Pick<SessionAccess, 'workspace' | 'clock' | 'folder' | 'columns'>;

/** What `waiting` and `answer` need. */
export type AnswerAccess = AnswerServices & ListServices & { readonly answerIds: AnswerIds };

/** What the commands about approvers, and signing an answer, need. */
export type ApproverAccess = {
  readonly find: FindApprovers;
  readonly own: OwnApprovers;
  readonly signer: ApprovalSigner;
  /** The list in a file that the user names. */
  readonly listIn: (file: string) => Promise<Result<KnownApprovers, { readonly cause: string }>>;
  /** The user's working directory. */
  readonly folder: string;
  readonly sha256: Sha256;
};

/** What `attest` needs. */
export type AttestAccess = AnswerAccess & {
  readonly checkRunner: CheckRunner;
  readonly confirmations: CommandConfirmations;
  /** Shows what a command prints, at once. */
  readonly showOutput: (chunk: Uint8Array) => Promise<void>;
};

/** What the commands about a team's database need. */
export type TeamAccess = Pick<CopyServices, 'tools' | 'yieldNow'> &
  AccessServices & {
    /** Random bytes for the text of a new token. */
    readonly random: () => Uint8Array;
    /** Who uses the command, as the system knows them; for the audit log. */
    readonly operator: () => string;
    readonly database: (url: string) => TeamDatabase;
    readonly keyidOf: KeyidOf;
    /** The store in a data folder. */
    readonly folder: (path: string) => Store & Upkeep;
    /** Copies of repositories in a folder that is removed by `clear`. */
    readonly gitSources: () => Omit<ListedSources, 'list'> & { readonly clear: () => void };
    readonly readKeyFile: (file: string) => Promise<Result<Uint8Array, InputFailure>>;
  };

/** Which of the standard streams are a terminal. */
export type Terminal = {
  readonly isInput: () => boolean;
  readonly isOutput: () => boolean;
  readonly isError: () => boolean;
  /** Its width; undefined without a terminal. */
  readonly columns: () => number | undefined;
};

/** How MCP is served. With `isLogged`, everything that happens is logged to standard error as lines of JSON. */
export type ServeOptions = { readonly isLogged: boolean } & (
  | { readonly transport: 'stdio' }
  /** Port 0 chooses any free port. */
  | { readonly transport: 'http'; readonly port: number }
);

/** A running server, or one that has already reported why it does not start. */
export type Serving = { readonly url?: string; readonly secretFile?: string; readonly isRefused?: true };

/** A running console. */
export type ServingConsole = {
  /** An address that signs a browser in. It works once, and for a minute. */
  readonly newLink: () => string;
  /** Opens the browser on a new link; false if there is no way to. */
  readonly openBrowser: () => Promise<boolean>;
  /** Calls back each time the user presses Enter in the terminal. */
  readonly onEnter: (callback: () => void) => void;
};

/** How a team server is asked to run. */
export type TeamServeOptions = {
  readonly databaseUrl: string;
  /** Where clients reach it, through a proxy that ends TLS. */
  readonly publicUrl: URL;
  readonly listen: { readonly host: string; readonly port: number };
  readonly admin: { readonly host: string; readonly port: number };
  readonly issuer: string | undefined;
  /** The client that the identity provider knows this server as; without one, no browser can sign in. */
  readonly clientId: string | undefined;
  /** Without a secret it is a public client. */
  readonly clientSecretFile: string | undefined;
  /** Where tokens of the identity provider name the groups of a person; `groups` by default. */
  readonly groupsClaim: string | undefined;
  readonly masterKeyFile: string;
  /** The database itself, if the other address is one of a pooling proxy. */
  readonly listenUrl: string | undefined;
  /** The most connections for statements. */
  readonly connections: number | undefined;
  /** Whether to wait before stopping until load balancers have noticed. */
  readonly isDrained: boolean;
  /** Whether the database itself keeps spaces apart as well. */
  readonly isConfined: boolean;
  readonly isLogged: boolean;
};

export type SignInWish = {
  /** The client that the identity provider was told about; otherwise one is registered, if the provider offers that. */
  readonly clientId: string | undefined;
  /** Where the browser comes back to; 0 chooses any free port. */
  readonly port: number;
  /** Shows the address at which the person signs in; `open` is false if no browser could be started. */
  readonly show: (at: { readonly address: string; readonly open: () => Promise<boolean> }) => Promise<void>;
};

export type SignedInToSpace = Omit<SignedInPerson, 'provedAt'>;

export type TeamServing = {
  readonly url: string;
  readonly adminUrl: string;
  /** The mode of the file with the master key, where other users of the machine can read it. */
  readonly openKeyMode?: string;
};

export type TeamServeRefusal =
  | { readonly code: 'database_unfit'; readonly dangers: readonly DatabaseDanger[] }
  | { readonly code: 'master_key_unusable' | 'client_secret_unusable'; readonly file: string }
  | { readonly code: 'master_key_wrong'; readonly file: string; readonly spaces: readonly string[] }
  | Exclude<ServeRefusal, { readonly code: 'secret_failed' }>
  | SpaceRefusal;

export type ServeRefusal =
  | { readonly code: 'port_taken'; readonly port: number }
  | { readonly code: 'port_refused'; readonly port: number; readonly cause: string }
  | { readonly code: 'secret_failed'; readonly file: string; readonly cause: string };

/** Everything that commands need from outside this folder. */
export type Program = {
  readonly version: string;
  readonly argv: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  readonly terminal: Terminal;
  /** Writes data to standard output. */
  readonly write: (text: string) => void;
  /** Writes messages to standard error. */
  readonly writeError: (text: string) => void;
  /** What the user must type here instead of `workrail`. */
  readonly calledAs: () => string;
  readonly dataDir: () => Promise<string>;
  /** Loaded on demand, so that other commands stay fast. Loading opens and creates nothing. */
  readonly store: () => Promise<CommandStore>;
  /** Loaded on demand. */
  readonly bundleAccess: () => Promise<BundleAccess>;
  /** Loaded on demand. */
  readonly passports: () => Promise<PassportAccess>;
  /** Loaded on demand. */
  readonly demoStage: () => Promise<DemoStage>;
  /** What the workflow commands need; loaded on demand. */
  readonly author: () => Promise<AuthorServices>;
  /** Loaded to list sessions, which needs far less than reading one. */
  readonly sessionListAccess: () => Promise<SessionListAccess>;
  /** Loaded to read sessions. */
  readonly sessionAccess: () => Promise<SessionAccess>;
  /** Clients, settings and keys of this machine; loaded on demand. */
  readonly setup: () => Promise<LocalServices>;
  /** Asks the user, only in a terminal; loaded on demand. */
  readonly ask: () => Promise<Ask>;
  /** Invalid settings, one sentence each. */
  readonly configProblems: () => Promise<readonly string[]>;
  /** Changes and deletes sessions; loaded on demand. */
  readonly upkeep: () => Promise<UpkeepServices>;
  /** What finding and answering what waits for a person needs; loaded on demand. */
  readonly answers: () => Promise<AnswerAccess>;
  /** Whose signatures count, and signing; loaded on demand. */
  readonly approvers: () => Promise<ApproverAccess>;
  /** What running and recording checks needs; loaded on demand. */
  readonly attest: () => Promise<AttestAccess>;
  /** The database of a team, and what copying between stores needs; loaded on demand. */
  readonly team: () => Promise<TeamAccess>;
  /** The sources of workflows that the user added; loaded on demand. */
  readonly sources: () => Promise<SourceServices>;
  /** Serves MCP until the client disconnects or the process is stopped; returns the address for HTTP. */
  readonly serve: (how: ServeOptions) => Promise<Result<Serving, ServeRefusal>>;
  /** Serves the spaces of a team database until the process is stopped. */
  readonly serveTeam: (how: TeamServeOptions) => Promise<Result<TeamServing, TeamServeRefusal>>;
  /** Passes what a client says to a team server until the client disconnects. */
  readonly connect: (url: URL) => Promise<Result<void, { readonly code: 'not_signed_in' }>>;
  /** Signs the user in to a space of a team, in a browser. */
  readonly signIn: (
    url: URL,
    wish: SignInWish,
  ) => Promise<Result<SignedInToSpace, SpaceSignInRefusal | Exclude<ServeRefusal, { readonly code: 'secret_failed' }>>>;
  /** Forgets a sign-in; `undefined` if there was none. */
  readonly signOut: (url: URL) => Promise<{ readonly isRevoked: boolean } | undefined>;
  /** Serves the console until the process ends. Port 0 chooses any free port. */
  readonly console: (how: {
    readonly port: number;
    /** Otherwise a program may have started it, and it takes no decisions. */
    readonly isAtTerminal: boolean;
  }) => Promise<Result<ServingConsole, ServeRefusal>>;
};

/** One of several choices. */
export type AskChoice = { readonly value: string; readonly label: string; readonly hint?: string };

/** Asks the user in a terminal, on standard error. Every answer is `undefined` if the user pressed Ctrl-C. */
export type Ask = {
  readonly choose: (question: {
    readonly message: string;
    readonly choices: readonly AskChoice[];
    readonly chosen: readonly string[];
  }) => Promise<readonly string[] | undefined>;
  readonly confirm: (message: string) => Promise<boolean | undefined>;
  /** Asks for one of several. */
  readonly pick: (question: {
    readonly message: string;
    readonly choices: readonly AskChoice[];
  }) => Promise<string | undefined>;
  /** Asks for a line of text; the initial text can be changed. */
  readonly write: (question: {
    readonly message: string;
    readonly initial?: string;
    /** Says what is wrong with a text, which is then asked for again. */
    readonly check?: (text: string) => string | undefined;
  }) => Promise<string | undefined>;
  /** Asks for a text that is not shown. */
  readonly secret: (question: {
    readonly message: string;
    readonly check?: (text: string) => string | undefined;
  }) => Promise<string | undefined>;
};
