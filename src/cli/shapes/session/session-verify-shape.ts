import * as z from 'zod';
import { AUDIT_FINDING_KINDS } from '../../../app/ports/upkeep/store-audit.ts';
import { DAMAGE_REASONS, salvageSchema } from '../../../core/log/health.ts';
import { SessionId } from '../../../core/log/ids.ts';
import { commandShape } from '../../command-shape.ts';

const count = z.int().min(0);
/** Relative to the data directory. */
const place = z.string();
const damage = z.strictObject({ reason: z.enum(DAMAGE_REASONS), place, offset: count });

const health = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('healthy') }),
  /** Only part of a session, as it was taken in: it can be read and exported, and never goes on. */
  z.strictObject({ kind: z.literal('salvaged'), salvage: salvageSchema }),
  z.strictObject({ kind: z.literal('corrupt_tail'), damage }),
  z.strictObject({ kind: z.literal('corrupt_head'), damage }),
  /** What the system said: it may be whole, but nobody can tell. */
  z.strictObject({ kind: z.literal('unreadable'), place, code: z.string() }),
  z.strictObject({ kind: z.literal('unknown_version'), place, offset: count, version: z.string() }),
]);

const finding = z.strictObject({
  severity: z.enum(['damage', 'note']),
  what: z.enum(AUDIT_FINDING_KINDS),
  place,
  /** Where in the file; not told when all of it is meant. */
  offset: count.exactOptional(),
  reason: z.enum(DAMAGE_REASONS).exactOptional(),
  /** The version that is not known. */
  version: z.string().exactOptional(),
  /** What the system said, of something that cannot be read. */
  code: z.string().exactOptional(),
});

const sessionVerifyData = z.strictObject({
  /** The data directory that was looked into. */
  dataDir: z.string(),
  sessions: z.array(
    z.strictObject({
      sessionId: SessionId.schema,
      health,
      events: count,
      bytes: count,
      findings: z.array(finding).readonly(),
    }),
  ),
  totals: z.strictObject({ sessions: count, damaged: count, events: count, bytes: count }),
});
export type SessionVerifyData = z.infer<typeof sessionVerifyData>;

/** What `workrail session verify --json` prints. */
export const sessionVerifyShape = commandShape('session verify', sessionVerifyData);
