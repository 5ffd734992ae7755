import * as z from 'zod';
import { PRINCIPAL_BYTES_MAX } from '../log/budgets.ts';
import { nonBlankSchema } from '../log/document-schema.ts';
import { count, moment } from './list-shapes.ts';
import { HANDOVERS, ROLES, type TeamPath, TOKEN_ROLES } from './team-paths.ts';

/** What the audit log of a space keeps: changes of who may do what, sign-ins, and decisions that were refused. */
export const AUDIT_ACTIONS = [
  'member_set',
  'member_removed',
  'token_created',
  'token_revoked',
  'handover_set',
  'session_handed_over',
  'four_eyes_set',
  'signed_in',
  'signed_out',
  'decision_refused',
  'ci_trusted',
  'ci_removed',
] as const;

const DAYS_MAX = 366;
const LOG_LENGTH_MAX = 65_536;
const principal = nonBlankSchema(PRINCIPAL_BYTES_MAX);
const tokenId = z.string().regex(/^[0-9a-f]{8}$/);
const nothing = z.strictObject({});

export const TEAM_INPUTS = {
  signOut: nothing,
  setMember: z.strictObject({ principal, role: z.enum(ROLES) }),
  removeMember: z.strictObject({ principal }),
  setSpace: z.strictObject({ handover: z.enum(HANDOVERS).exactOptional(), isFourEyes: z.boolean().exactOptional() }),
  // People are named by issuer and subject, with this mark between them. No program may pass for one.
  createToken: z.strictObject({
    for: principal.regex(/^[^|]*$/),
    role: z.enum(TOKEN_ROLES),
    days: z.int().min(1).max(DAYS_MAX),
  }),
  revokeToken: z.strictObject({ tokenId }),
} as const satisfies { readonly [path in TeamPath]?: z.ZodType };

export const TEAM_REPLIES = {
  signOut: nothing,
  members: z.strictObject({
    members: z.array(z.strictObject({ principal: z.string(), role: z.enum(ROLES) })),
    handover: z.enum(HANDOVERS),
    isFourEyes: z.boolean(),
  }),
  setMember: nothing,
  removeMember: nothing,
  setSpace: nothing,
  tokens: z.strictObject({
    tokens: z.array(
      z.strictObject({
        tokenId: z.string(),
        for: z.string(),
        role: z.enum(TOKEN_ROLES),
        madeAt: moment,
        expiresAt: moment,
        state: z.enum(['valid', 'expired', 'revoked']),
      }),
    ),
  }),
  /** Its text is shown only now. */
  createToken: z.strictObject({ token: z.string(), tokenId: z.string(), expiresAt: moment }),
  revokeToken: nothing,
  audit: z.strictObject({
    /** Newest first. */
    entries: z.array(
      z.strictObject({
        seq: count,
        at: moment,
        by: z.string(),
        action: z.enum(AUDIT_ACTIONS),
        subject: z.string(),
        role: z.enum(ROLES).exactOptional(),
      }),
    ),
    /** The first entry that was changed or is missing. */
    brokenAt: count.exactOptional(),
    total: count,
  }),
} as const satisfies { readonly [path in TeamPath]: z.ZodType };

/** Who looks at the console of a space. */
export const teamAboutShape = z.strictObject({
  space: z.string(),
  principal: z.string(),
  name: z.string().exactOptional(),
  role: z.enum(ROLES),
  /** Until then the person may decide without proving again who they are. */
  freshUntil: moment,
});

/** What CI sends about a check that it ran. Who says so, for which repository and commit, is in its credential. */
export const ciResultShape = z.strictObject({
  /** The tag of the run, or its whole id. */
  run: z.string().max(64),
  check: z.string().max(64),
  /** Of the command that the server gave out. */
  commandDigest: z.string().max(80),
  exitCode: z.int().min(0).max(255).nullable(),
  timedOut: z.boolean(),
  durationMs: count,
  tests: z.strictObject({ executed: count, failed: count }).exactOptional(),
  /** The end of what the command printed. */
  log: z.string().max(LOG_LENGTH_MAX),
});
