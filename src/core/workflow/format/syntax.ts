import type { JsonValue } from '../../json/json-value.ts';
import type { Condition } from '../compiled/condition.ts';
import type { FunctionSyntax } from './function-fields.ts';

/*
 * What an author wrote, in one spelling: the parts of the tree that the field tables cannot say by themselves, because
 * they contain each other or join two spellings. `at` is the JSON pointer of a value in its file.
 */

export type StepHead = {
  readonly at: string;
  readonly id: string;
  readonly title: string;
  readonly runCondition?: Condition;
  readonly confirmation: ConfirmationSyntax;
  readonly isNotesOptional: boolean;
};

export type ConfirmationSyntax =
  | { readonly kind: 'none' }
  | { readonly kind: 'confirm' | 'human_approval' | 'coordinator_eval'; readonly when: Condition };

/** The whole condition of a loop, which may stand for the decision that an artifact brings, or one that has a name. */
export type WholeCondition = Condition | { readonly kind: 'loop_control' };

export type LoopControlSyntax =
  | { readonly kind: 'artifact'; readonly contractRef: string; readonly at: string }
  | { readonly kind: 'while' | 'until'; readonly condition: WholeCondition }
  /** No source was named: a body step with the loop-control contract decides, and without one the condition. */
  | {
      readonly kind: 'undeclared';
      readonly fallback?: { readonly kind: 'while' | 'until'; readonly condition: WholeCondition };
    }
  /** What was written could not be read, and was reported. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'for'; readonly count: number | string }
  | { readonly kind: 'for_each'; readonly items: string | readonly JsonValue[] };

export interface LoopStepOf<Step> extends StepHead {
  readonly kind: 'loop';
  /** As written; the compiler makes it the step id where it is missing. */
  readonly loopId?: string;
  readonly loopIdAt: string;
  readonly control: LoopControlSyntax;
  /** `undefined` was reported already. */
  readonly maxIterations: number | undefined;
  readonly variables: { readonly iteration: string; readonly item: string; readonly index: string };
  readonly functions: readonly FunctionSyntax[];
  readonly body:
    | { readonly kind: 'steps'; readonly steps: readonly Step[] }
    | { readonly kind: 'reference'; readonly stepId: string; readonly at: string };
}
