/** What somebody may do in a space. Each role includes those before it. */
export const ROLES = ['reader', 'agent', 'approver', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Whether a role includes another one. */
export function includesRole(role: Role, wanted: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(wanted);
}

/** The roles of programs. A program never approves and never administers. */
export const TOKEN_ROLES = ['reader', 'agent'] as const satisfies readonly Role[];

/** Who may continue a run: every agent of its space, or only who started it and whom it was given to. */
export const HANDOVERS = ['space', 'owner'] as const;
export type Handover = (typeof HANDOVERS)[number];

/** How much a space may hold unless an admin says otherwise. */
export const SPACE_LIMITS = { openSessionsMax: 5_000, bytesMax: 10_000_000_000 } as const;
export type SpaceLimits = { readonly [limit in keyof typeof SPACE_LIMITS]: number };

/** How long after proving who they are somebody may decide in the console. */
export const FRESH_MS = 900_000;

/** The requests that only the console of a team server answers. */
export const TEAM_PATHS = {
  signOut: ['POST', '/api/sign-out'],
  members: ['GET', '/api/members'],
  setMember: ['POST', '/api/members'],
  removeMember: ['POST', '/api/members/remove'],
  spaces: ['GET', '/api/spaces'],
  setSpace: ['POST', '/api/space'],
  tokens: ['GET', '/api/tokens'],
  createToken: ['POST', '/api/tokens'],
  revokeToken: ['POST', '/api/tokens/revoke'],
  spaceSources: ['GET', '/api/space-sources'],
  acceptSpaceSource: ['POST', '/api/space-sources/accept'],
  removeSpaceSource: ['POST', '/api/space-sources/remove'],
  audit: ['GET', '/api/audit'],
} as const satisfies { readonly [name: string]: readonly ['GET' | 'POST', `/api/${string}`] };

export type TeamPath = keyof typeof TEAM_PATHS;
