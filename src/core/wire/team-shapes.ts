import * as z from 'zod';
import { PRINCIPAL_BYTES_MAX } from '../log/budgets.ts';
import { nonBlankSchema } from '../log/document-schema.ts';
import { gitSourceSchema } from '../sources.ts';
import { count, moment } from './list-shapes.ts';
import { HANDOVERS, ROLES, type TeamPath, TOKEN_ROLES } from './team-paths.ts';

/** What the audit log of a space keeps: changes of who may do what, sign-ins, decisions that were refused, and sessions that were deleted or taken out. */
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
  'limit_set',
  'keys_rotated',
  'keys_resealed',
  'source_proposed',
  'source_accepted',
  'source_removed',
  'session_deleted',
  'session_restored',
  'session_exported',
  'sessions_collected',
  'copy_started',
] as const;

/** What a space may hold. */
export const spaceLimitsShape = z.strictObject({
  openSessionsMax: z.int().min(1),
  bytesMax: z.int().min(1),
});
/** What it holds. */
const spaceUseShape = z.strictObject({ openSessions: count, bytes: count });
/** The rules of a space, and how far its limits are used. */
export const spaceRulesShape = z.strictObject({
  handover: z.enum(HANDOVERS),
  isFourEyes: z.boolean(),
  limits: spaceLimitsShape,
  use: spaceUseShape,
  /** The repositories whose workflows agents are offered, each at one commit. */
  sources: z.array(gitSourceSchema).readonly(),
  /** The CI systems whose jobs count as evidence, and of which repositories, branches and tags. `*` is any. */
  ci: z
    .array(
      z.strictObject({
        issuer: z.string(),
        host: z.string(),
        repositories: z.array(z.string()).readonly().exactOptional(),
        ref: z.string().exactOptional(),
      }),
    )
    .readonly(),
});
/** A repository of a space at a commit. It is used only after an admin accepted it. */
export const spaceSourceShape = z.strictObject({
  source: gitSourceSchema,
  isAccepted: z.boolean(),
  files: z.array(z.string()).readonly(),
});

const DAYS_MAX = 366;
const LOG_LENGTH_MAX = 65_536;
const principal = nonBlankSchema(PRINCIPAL_BYTES_MAX);
/** What principals may be called, here and on the command line. */
export const PRINCIPAL_NAME = /^[^\p{C}\p{Z}]+$/u;
/** Groups of an identity provider are members by this mark before issuer, bar and name. */
export const GROUP_MARK = 'group:';
/** What members may be called. Names of groups may have spaces. */
export const MEMBER_NAME = /^(?:group:(?:[^\p{C}\p{Z}]| )+|[^\p{C}\p{Z}]+)$/u;
const newPrincipal = principal.regex(PRINCIPAL_NAME);
const tokenId = z.string().regex(/^[0-9a-f]{8}$/);
const nothing = z.strictObject({});

export const TEAM_INPUTS = {
  signOut: nothing,
  setMember: z.strictObject({ principal: principal.regex(MEMBER_NAME), role: z.enum(ROLES) }),
  removeMember: z.strictObject({ principal }),
  /** One change at a time, as the audit log keeps them. */
  setSpace: z.union([
    z.strictObject({ handover: z.enum(HANDOVERS) }),
    z.strictObject({ isFourEyes: z.boolean() }),
    spaceLimitsShape.pick({ openSessionsMax: true }),
    spaceLimitsShape.pick({ bytesMax: true }),
  ]),
  // People are named by issuer and subject, with this mark between them. No program may pass for one.
  createToken: z.strictObject({
    for: newPrincipal.regex(/^[^|]*$/),
    role: z.enum(TOKEN_ROLES),
    days: z.int().min(1).max(DAYS_MAX),
  }),
  revokeToken: z.strictObject({ tokenId }),
  /** Exactly what the page showed. */
  acceptSpaceSource: gitSourceSchema.pick({ name: true, commit: true }),
  removeSpaceSource: gitSourceSchema.pick({ name: true }),
} as const satisfies { readonly [path in TeamPath]?: z.ZodType };

export const TEAM_REPLIES = {
  signOut: nothing,
  members: z.strictObject({
    members: z.array(z.strictObject({ principal: z.string(), role: z.enum(ROLES) })),
  }),
  /** Those in which the person has a role. */
  spaces: z.strictObject({
    spaces: z.array(
      z.strictObject({
        name: z.string(),
        role: z.enum(ROLES),
        /** For admins of the space. */
        rules: spaceRulesShape.exactOptional(),
      }),
    ),
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
  spaceSources: z.strictObject({ sources: z.array(spaceSourceShape) }),
  acceptSpaceSource: nothing,
  removeSpaceSource: nothing,
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
