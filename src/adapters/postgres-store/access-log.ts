import { err, type Result } from 'neverthrow';
import * as z from 'zod';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type { AuditEntry, AuditLog, ChangeMade } from '../../app/ports/team-database.ts';
import { assert } from '../../core/assert.ts';
import { linkedBytes, ownJsonBytes, type Sha256, type Sha256Digest } from '../../core/json/canonical-json.ts';
import { defined } from '../../core/json/json-value.ts';
import { ROLES } from '../../core/wire/team-paths.ts';
import { AUDIT_ACTIONS } from '../../core/wire/team-shapes.ts';
import { digestBytes, digestText, type Rows, type Statement, sql } from './database.ts';

/** Those who change access of one space go one after the other, so the chain of its audit log has no gap and no fork. */
export const TAKE_TURN = sql(
  'audit_turn',
  'select audit_seq as seq, audit_chain as chain from wr.space where space_id = $1 for update',
);
const LAST_ENTRY = sql('audit_last', 'select seq, chain from wr.audit where space_id = $1 order by seq desc limit 1');
const ADD_ENTRY = sql(
  'audit_add',
  `with head as (update wr.space set audit_seq = $2, audit_chain = $4 where space_id = $1)
   insert into wr.audit (space_id, seq, entry, chain) values ($1, $2, $3, $4) returning 1`,
);
const HEAD = sql('audit_head', 'select audit_seq as seq, audit_chain as chain from wr.space where space_id = $1');
const ENTRIES = sql('audit_all', 'select seq, entry, chain from wr.audit where space_id = $1 order by seq');

const entrySchema = z.strictObject({
  seq: z.int().min(1),
  at: z.int().min(0),
  by: z.string().min(1),
  action: z.enum(AUDIT_ACTIONS),
  subject: z.string().min(1),
  role: z.enum(ROLES).optional(),
});

type ChainRow = { readonly seq: string; readonly chain: Buffer };
/** Empty before the first entry. */
type HeadRow = { readonly [column in keyof ChainRow]: ChainRow[column] | null };
export type AuditFact = Pick<AuditEntry, 'action' | 'subject' | 'role'>;
type Run = (one: Statement, ...values: readonly unknown[]) => Promise<Result<Rows, StoreFailure>>;

/** Adds an entry after the last one. `head` is what taking the turn returned. */
export async function recordEntry(
  run: Run,
  head: Rows,
  { fact, made: { at, by }, sha256 }: { readonly fact: AuditFact; readonly made: ChangeMade; readonly sha256: Sha256 },
): Promise<Result<boolean, StoreFailure>> {
  const last = await run(LAST_ENTRY);
  if (last.isErr()) return err(last.error);
  const before = furthest(headOf(head), last.value as unknown as readonly ChainRow[]);
  const seq = Number(before?.seq ?? 0) + 1;
  const entry: AuditEntry = defined({ seq, at, by, ...fact });
  const chain = chainOf(sha256, before === undefined ? undefined : digestText(before.chain), entry);
  return (await run(ADD_ENTRY, seq, Buffer.from(ownJsonBytes(entry)).toString(), digestBytes(chain))).map(() => true);
}

export async function readAccessLog(read: Run, sha256: Sha256): Promise<Result<AuditLog, StoreFailure>> {
  // The head is read first: an entry that is added meanwhile is beyond it.
  const head = await read(HEAD);
  if (head.isErr()) return err(head.error);
  return (await read(ENTRIES)).map((rows) => auditLog(rows, headOf(head.value), sha256));
}

/** The first entry follows on nothing. */
const GENESIS = ownJsonBytes({ audit: 1 });

function chainOf(sha256: Sha256, before: string | undefined, entry: AuditEntry): Sha256Digest {
  const linked = linkedBytes((before as Sha256Digest | undefined) ?? sha256(GENESIS), entry);
  assert(linked.isOk(), 'an entry is JSON');
  return sha256(linked.value);
}

function headOf([row]: Rows): ChainRow | undefined {
  const { seq, chain } = row as HeadRow;
  return seq === null || chain === null ? undefined : { seq, chain };
}

/** A server of the release before adds entries without moving the head. Cut off entries leave it where it was. */
function furthest(head: ChainRow | undefined, [last]: readonly ChainRow[]): ChainRow | undefined {
  return head === undefined || Number(last?.seq ?? 0) > Number(head.seq) ? last : head;
}

/** Entries up to the first that is missing, changed or unreadable. */
function auditLog(rows: Rows, head: ChainRow | undefined, sha256: Sha256): AuditLog {
  const entries: AuditEntry[] = [];
  const chains: Sha256Digest[] = [];
  for (const row of rows as unknown as readonly (ChainRow & { readonly entry: string })[]) {
    const entry = entrySchema.safeParse(jsonOf(row.entry)).data;
    const isNext = entry?.seq === entries.length + 1 && Number(row.seq) === entry.seq;
    const chain = entry === undefined || !isNext ? undefined : chainOf(sha256, chains.at(-1), entry);
    if (entry === undefined || chain === undefined || chain !== digestText(row.chain)) {
      return { entries, chains, brokenAt: entries.length + 1 };
    }
    entries.push(entry);
    chains.push(chain);
  }
  if (head === undefined) return { entries, chains };
  const isWhole = chains[Number(head.seq) - 1] === digestText(head.chain);
  return isWhole ? { entries, chains } : { entries, chains, brokenAt: Math.min(entries.length + 1, Number(head.seq)) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
