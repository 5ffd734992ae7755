import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { type Audit, auditInvariants, type Claim, type Invariant } from './audit.ts';
import { BUILT_CAPABILITIES, CAPABILITIES } from './capabilities.ts';
import { readClaims } from './claims.ts';

const sentence = z.string().regex(/^\S.*[.)]$/s, 'must be a sentence');

export const registrySchema = z.array(
  z.strictObject({
    id: z.string().regex(/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/, 'must be snake_case'),
    rule: sentence,
    area: z.string().regex(/^[a-z]+$/),
    capability: z.enum(CAPABILITIES),
  }),
);

export type Registry = {
  readonly rules: readonly Invariant[];
  readonly claims: readonly Claim[];
  readonly audit: Audit;
};

/** The registry of a source tree, with the claims of its tests. */
export function readRegistry(root: string): Registry {
  const rules = registrySchema.parse(JSON.parse(readFileSync(join(root, 'docs/internals/invariants.json'), 'utf8')));
  const claims = readClaims(root);
  return { rules, claims, audit: auditInvariants({ rules, claims, builtCapabilities: BUILT_CAPABILITIES }) };
}
