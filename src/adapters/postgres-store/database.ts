import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { err, ok, type Result } from 'neverthrow';
import pg from 'pg';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type { ConnectionUse } from '../../app/ports/team-database.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';

/** One statement with its values. Statements with a name are planned once per connection. */
export type Statement = { readonly name: string; readonly text: string };

type Row = Record<string, unknown>;
export type Rows = readonly Row[];

/** Runs statements, each in a transaction of its own unless a connection is held. */
export type Database = {
  run(statement: Statement, values: readonly unknown[]): Promise<Result<Rows, DatabaseFailure>>;
  /**
   * Holds a connection in a transaction while `work` runs. It is committed if `work` succeeds, and otherwise undone.
   * These connections are not those of `run`, so `work` may use both.
   */
  transaction<Value, Refusal>(
    work: (held: Held) => Promise<Result<Value, Refusal>>,
  ): Promise<Result<Value, Refusal | DatabaseFailure>>;
  /** The same, where the database itself shows only the rows of one space. It costs a round trip for each statement. */
  confinedTo(spaceId: number): StoreDatabase;
  connections(): ConnectionUse;
  close(): Promise<void>;
};

/** What a store uses: all of a database, or what is confined to its space. */
export type StoreDatabase = Omit<Database, 'confinedTo' | 'connections' | 'close'>;

export type Held = Pick<Database, 'run'>;

/** `isUnknown`: the connection was lost, so the statement may have been carried out. */
export type DatabaseFailure = {
  readonly code: 'database_failed';
  readonly sqlState: string;
  readonly isAway: boolean;
  readonly isUnknown: boolean;
};

export type DatabaseOptions = {
  readonly url: string;
  /** The most connections for statements; callers queue for one. */
  readonly connectionsMax?: number;
  /** Called before each statement that asks or changes something. */
  readonly onStatement?: () => void;
};

const CONNECTIONS_MAX = 10;
/** A writer that was overtaken holds one of these while it decides again. */
const HELD_MAX = 2;
export const CONNECT_MS = 4_000;
const STATEMENT_MS = 5_000;
/** For those who hold a row that somebody else wants. */
const LOCK_MS = 2_000;

/**
 * A pool of connections. Whatever the server's defaults are, a commit is flushed before it is acknowledged, and no
 * standby answers: what is read there may be older than what was acknowledged.
 */
export function openDatabase({
  url,
  connectionsMax = CONNECTIONS_MAX,
  onStatement = () => undefined,
}: DatabaseOptions): Database {
  const counting = countingWith(onStatement);
  const pools: pg.Pool[] = [];
  const pool = (max: number) => {
    const made = new pg.Pool({
      connectionString: url,
      max,
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: STATEMENT_MS,
      lock_timeout: LOCK_MS,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
      application_name: 'workrail',
      onConnect: prepareConnection,
    });
    // An idle connection that is lost is replaced by the next caller.
    made.on('error', () => undefined);
    pools.push(made);
    return made;
  };
  const statements = pool(connectionsMax);
  const held = pool(HELD_MAX);
  // A connection stays confined, so those without a space have others.
  const [confinedStatements, confinedHeld] = [once(() => pool(connectionsMax)), once(() => pool(HELD_MAX))];
  return {
    ...counting({
      run: (statement, values) => querying(statements, statement, values),
      transaction: (work) => inTransaction(held, work),
    }),
    confinedTo: (spaceId) =>
      counting({
        run: (statement, values) =>
          confined(confinedStatements(), spaceId, (client) => querying(client, statement, values)),
        transaction: <Value, Refusal>(work: (held: Held) => Promise<Result<Value, Refusal>>) =>
          inTransaction<Value, Refusal | DatabaseFailure>(confinedHeld(), async (connection) => {
            const set = await connection.run(CONFINE, [String(spaceId)]);
            return set.isErr() ? err(set.error) : work(connection);
          }),
      }),
    connections: () => ({
      inUse: pools.reduce((sum, { totalCount, idleCount }) => sum + totalCount - idleCount, 0),
      waiting: pools.reduce((sum, { waitingCount }) => sum + waitingCount, 0),
    }),
    close: async () => {
      await Promise.all(pools.map((one) => one.end()));
    },
  };
}

function countingWith(onStatement: () => void): (database: StoreDatabase) => StoreDatabase {
  const counted = ({ run }: Held): Held => ({
    run: (statement, values) => {
      onStatement();
      return run(statement, values);
    },
  });
  return (database) => ({
    ...counted(database),
    transaction: (work) => database.transaction((held) => work(counted(held))),
  });
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const CONFINE = { name: 'wr_confine', text: "select set_config('wr.space', $1, false)" };

/** Uses a connection that shows only one space. Every user of these connections says which space that is. */
async function confined<Value>(
  pool: pg.Pool,
  spaceId: number,
  work: (client: Client) => Promise<Result<Value, DatabaseFailure>>,
): Promise<Result<Value, DatabaseFailure>> {
  const taken = await taking(pool);
  if (taken.isErr()) return err(taken.error);
  const { client, release } = taken.value;
  const set = await querying(client, CONFINE, [String(spaceId)]);
  const done = set.isErr() ? err({ ...set.error, isUnknown: false }) : await work(client);
  release();
  return done;
}

type Taken = { readonly client: Client; readonly release: (broken?: Error) => void };

/** A connection of its own. One that was lost meanwhile is not given to anybody else. */
async function taking(pool: pg.Pool): Promise<Result<Taken, DatabaseFailure>> {
  try {
    const client = await pool.connect();
    let lost: Error | undefined;
    const onError = (error: Error) => {
      lost = error;
    };
    client.on('error', onError);
    const release = (broken?: Error) => {
      client.off('error', onError);
      client.release(broken ?? lost);
    };
    return ok({ client, release });
  } catch (error) {
    return err({ ...failureOf(error), isUnknown: false });
  }
}

type Client = Pick<pg.ClientBase, 'query'>;

async function prepareConnection(client: Client): Promise<void> {
  const { rows } = await client.query(
    "select set_config('synchronous_commit', 'on', false), pg_is_in_recovery() as is_standby",
  );
  if ((rows[0] as Row)['is_standby'] === true) throw Object.assign(new Error('a standby'), { code: READ_ONLY });
}

/** What PostgreSQL itself answers to a write on a standby. */
const READ_ONLY = '25006';

async function querying(
  client: { query: Client['query'] },
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<Result<Rows, DatabaseFailure>> {
  // Named after the statement, without its values. Nothing is recorded unless the operator has preloaded an SDK.
  const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': name };
  const span = trace.getTracer('workrail').startSpan(name, { kind: SpanKind.CLIENT, attributes });
  try {
    const { rows } = await client.query({ name, text, values: [...values] });
    return ok(rows as Rows);
  } catch (error) {
    const failure = failureOf(error);
    span.setStatus({ code: SpanStatusCode.ERROR, message: failure.sqlState });
    return err(failure);
  } finally {
    span.end();
  }
}

async function inTransaction<Value, Refusal>(
  held: pg.Pool,
  work: (held: Held) => Promise<Result<Value, Refusal>>,
): Promise<Result<Value, Refusal | DatabaseFailure>> {
  const taken = await taking(held);
  if (taken.isErr()) return err(taken.error);
  const { client, release } = taken.value;
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const done = await work({ run: (statement, values) => querying(client, statement, values) });
    await client.query(done.isOk() ? 'commit' : 'rollback');
    return done;
  } catch (error) {
    // An error of `work` itself is none of the database.
    if (!isDatabaseError(error)) {
      broken = new Error('left in a transaction');
      throw error;
    }
    broken = error as Error;
    return err(failureOf(error));
  } finally {
    release(broken);
  }
}

function isDatabaseError(error: unknown): boolean {
  return error instanceof pg.DatabaseError || AWAY.test(sqlStateOf(error)) || LOST.test(messageOf(error));
}

/**
 * Connection errors, a server that starts or stops, a statement or a wait for a lock that took too long, a transaction
 * that lost against another one, too many connections, a standby; and errors of the socket.
 */
const AWAY =
  /^(?:08...|57014|57P0[1-5]|55P03|40001|40P01|53300|25006|ECONN\w+|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
const LOST = /connection terminated|connection ended|timeout exceeded|client has encountered a connection error/i;

function failureOf(error: unknown): DatabaseFailure {
  const sqlState = sqlStateOf(error);
  const isLost = LOST.test(messageOf(error));
  const isAway = isLost || AWAY.test(sqlState);
  return {
    code: 'database_failed',
    sqlState: sqlState === '' ? (isLost ? 'connection_lost' : 'unknown') : sqlState,
    isAway,
    // The server says by itself what it did not do; a lost connection says nothing.
    isUnknown: isAway && !(error instanceof pg.DatabaseError),
  };
}

function sqlStateOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

/** When an agent should try again after the database was away. */
const RETRY_AFTER_MS = 2_000;
/** What PostgreSQL answers if `lock_timeout` passes. */
export const LOCK_NOT_AVAILABLE = '55P03';
export const UNIQUE_VIOLATION = '23505';

/** The failure in the words of the port. */
export function storeFailure(failure: DatabaseFailure, operation: string, place: string): StoreFailure {
  if (failure.isAway) return { code: 'unreachable', operation, retryAfterMs: RETRY_AFTER_MS };
  return { code: 'database_refused', operation: `${operation}, ${place}`, cause: failure.sqlState };
}

/** Hints between the servers of one database that something in a space changed. They carry no data. */
export type Notices = {
  /** Something in the space was changed here. Others hear of it soon, together with what else changes until then. */
  changed(spaceId: number): void;
  /** Calls back after each change in the space, also one that another server made. The returned function ends that. */
  watch(spaceId: number, onChange: () => void): () => void;
  /** Whether changes of others arrive now. Otherwise somebody who watches has to look. */
  isListening(): boolean;
  /** Sends what was not sent yet, and listens no more. */
  close(): Promise<void>;
};

/** What all parts of a store in a database share. A store belongs to one space and cannot name another. */
export type SpaceParts = {
  readonly database: StoreDatabase;
  /** The same database where it is not confined to the space. Only for a look whether the master key fits. */
  readonly everySpace?: Held;
  readonly spaceId: number;
  readonly sha256: Sha256;
  /** Seals the keys that sign tokens, so that a dump of the database does not hold them. */
  readonly masterKey: () => Uint8Array;
  /** Open what was sealed before the master key was replaced. */
  readonly previousKeys?: readonly Uint8Array[];
  /** Where changes are announced to other servers. */
  readonly notices?: Notices;
};

/** The numbers of the kinds of content. */
export const CONTENT_KINDS = { snapshot: 1, artifact: 2, workflow: 3 } as const;
export type ContentKind = (typeof CONTENT_KINDS)[keyof typeof CONTENT_KINDS];

/** A statement that is planned once per connection. */
export function sql(name: string, text: string): Statement {
  return { name: `wr_${name}`, text };
}

const PREFIX = 'sha256:';

/** A digest as its 32 bytes. */
export function digestBytes(digest: string): Buffer {
  return Buffer.from(digest.slice(PREFIX.length), 'hex');
}

export function digestText(bytes: Uint8Array): string {
  return PREFIX + Buffer.from(bytes).toString('hex');
}
