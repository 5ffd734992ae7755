import type { JsonObject } from '../../json/json-value.ts';
import type { Capability, CapabilityStatus } from '../../log/blockers.ts';
import type { LoopId } from '../../log/ids.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { Assessment, PinnedContract } from '../../workflow/compiled/compiled-workflow.ts';
import type { Criteria } from '../../workflow/compiled/criteria.ts';

/** An artifact that is asked for: by which rules, with which hints of the author, and one that would be accepted. */
export type AskedArtifact = {
  readonly contract: PinnedContract;
  readonly hints: readonly string[];
  readonly example: JsonObject;
};

/** Something that a step asks of an attempt, with all that is needed to tell an agent before it works. */
export type Requirement =
  | { readonly kind: 'notes' }
  | {
      readonly kind: 'criteria';
      readonly criteria: Criteria;
      /** A step that declares a contract shows its criteria and is not held up by them. */
      readonly isEnforced: boolean;
      /** Every rule that counts at this place, one text each. */
      readonly bullets: readonly string[];
    }
  | ({ readonly kind: 'output_contract'; readonly isRequired: boolean } & AskedArtifact)
  /** The step decides whether this loop goes round again. */
  | ({ readonly kind: 'loop_control'; readonly loopId: LoopId } & AskedArtifact)
  /** One artifact for each assessment; the guidance of the contract covers them all. */
  | {
      readonly kind: 'assessments';
      readonly assessments: readonly Assessment[];
      readonly contract: PinnedContract;
      readonly hints: readonly string[];
      readonly examples: readonly JsonObject[];
    }
  /** The workflow cannot be done without this. */
  | {
      readonly kind: 'capability';
      readonly capability: Capability;
      /** What a probe or an attempt has shown on this line; `undefined` where nobody has tried. */
      readonly known: CapabilityStatus | undefined;
      /** Whether an observation that is handed in with this very step settles the question. */
      readonly isSettledHere: boolean;
    }
  | ({ readonly kind: 'user_dependency' } & NonNullable<CompiledStep['userDependency']>)
  /** A person has to approve. */
  | { readonly kind: 'approval' }
  /** Only a verdict that approves lets the run pass. */
  | ({ readonly kind: 'gate' } & AskedArtifact);
