import type { JsonObject } from '../../core/json/json-value.ts';
import { BLANK } from '../bench/write/starters/blank.ts';
import { GATE } from '../bench/write/starters/gate.ts';
import type { Naming } from '../bench/write/starters/head.ts';
import { LOOP } from '../bench/write/starters/loop.ts';

/** Something to begin with: a workflow that is sound as it stands, and a scenario that passes. */
export type Starter = {
  readonly summary: string;
  readonly workflow: (naming: Naming) => JsonObject;
  readonly scenarios: readonly JsonObject[];
};

export const STARTERS = { blank: BLANK, loop: LOOP, gate: GATE } as const;
export type StarterName = keyof typeof STARTERS;
