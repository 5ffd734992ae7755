import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import type { Autonomy, RiskPolicy } from '../../log/autonomy.ts';
import type { Capability } from '../../log/blockers.ts';
import type { NonAssumableChoice, UserOnlyReason } from '../../log/reasons.ts';
import type { Condition } from '../compiled/condition.ts';
import type { Criteria } from '../compiled/criteria.ts';

/**
 * What an author wrote, in one spelling. Everything behind the reader works on this tree; `at` is the JSON pointer of
 * a value in its file, so that whatever is found later can still be located.
 */
export type WorkflowSyntax = {
  readonly at: string;
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  readonly about?: string;
  readonly examples: readonly string[];
  readonly tags: readonly string[];
  readonly agentRole?: string;
  readonly capabilities: { readonly [capability in Capability]?: 'required' | 'preferred' | 'disabled' };
  readonly features: readonly FeatureUse[];
  readonly conditions: readonly {
    readonly at: string;
    readonly conditionId: string;
    readonly condition: WholeCondition;
  }[];
  readonly preconditions: readonly string[];
  readonly clarificationPrompts: readonly string[];
  readonly metaGuidance: readonly string[];
  readonly functions: readonly FunctionSyntax[];
  readonly recommended: { readonly autonomy?: Autonomy; readonly riskPolicy?: RiskPolicy };
  readonly assessments: readonly AssessmentSyntax[];
  readonly extensionPoints: readonly ExtensionPoint[];
  readonly references: readonly ReferenceSyntax[];
  readonly steps: readonly StepSyntax[];
};

export type FeatureUse = {
  readonly at: string;
  readonly idAt: string;
  readonly featureId: string;
  readonly config?: JsonObject;
};

export type FunctionSyntax = {
  readonly at: string;
  readonly name: string;
  readonly definition: string;
  readonly parameters: readonly ParameterSyntax[];
  /** From where it is visible. Behind the reader it stands with the step, loop or workflow that this names. */
  readonly scope: 'workflow' | 'loop' | 'step';
};

export type ParameterSyntax = {
  readonly name: string;
  readonly type?: string;
  readonly description?: string;
  readonly isOptional?: boolean;
  readonly default?: JsonValue;
  readonly choices?: readonly JsonValue[];
};

export type FunctionCall = {
  readonly at: string;
  readonly name: string;
  readonly args: { readonly [name: string]: string };
};

export type AssessmentSyntax = {
  readonly at: string;
  readonly id: string;
  readonly purpose: string;
  readonly dimensions: readonly {
    readonly at: string;
    readonly id: string;
    readonly purpose: string;
    readonly levels: readonly string[];
    readonly isRequired: boolean;
  }[];
};

export type ExtensionPoint = {
  readonly at: string;
  readonly slotId: string;
  readonly purpose: string;
  readonly default: string;
  readonly acceptedKinds: readonly ('text' | 'routine' | 'workflow')[];
};

export type ReferenceSyntax = {
  readonly at: string;
  readonly id: string;
  readonly title: string;
  readonly source: string;
  readonly purpose: string;
  readonly isAuthoritative: boolean;
  readonly resolveFrom: 'workspace' | 'package';
};

export type StepSyntax = StandardStep | LoopStep | TemplateStep | ParallelStep;

type StepHead = {
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

/** A text with bundled texts put in between. */
export type BlockText = readonly (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'ref'; readonly refId: string; readonly at: string }
)[];

export type PromptBlocks = {
  readonly goal?: BlockText;
  readonly constraints: readonly BlockText[];
  readonly procedure: readonly BlockText[];
  readonly outputRequired: readonly { readonly name: string; readonly text: BlockText }[];
  readonly verify: readonly BlockText[];
};

export type StandardStep = StepHead & {
  readonly kind: 'standard';
  readonly prompt: { readonly kind: 'text'; readonly text: string } | ({ readonly kind: 'blocks' } & PromptBlocks);
  readonly agentRole?: string;
  readonly guidance: readonly string[];
  readonly fragments: readonly {
    readonly at: string;
    readonly id: string;
    readonly when: Condition;
    readonly text: string;
  }[];
  readonly output?: OutputSyntax;
  readonly criteria?: Criteria;
  readonly assessmentRefs: readonly { readonly at: string; readonly id: string }[];
  readonly consequences: readonly {
    readonly at: string;
    readonly anyEqualsLevel: string;
    readonly forAssessment?: string;
    readonly guidance: string;
  }[];
  readonly functions: readonly FunctionSyntax[];
  readonly functionReferences: readonly { readonly at: string; readonly name: string }[];
  readonly functionCalls: readonly FunctionCall[];
  readonly userDependency?: {
    readonly reason: UserOnlyReason;
    readonly choiceKind?: NonAssumableChoice;
    readonly contextKey?: string;
    readonly prompt: string;
  };
  readonly verification?: { readonly command?: string; readonly prompt?: string };
  readonly audit?: { readonly prompt?: string; readonly rubric: readonly string[] };
};

export type OutputSyntax = {
  readonly at: string;
  readonly contractRef: string;
  readonly isRequired: boolean;
  readonly hints: readonly string[];
};

export type LoopStep = StepHead & {
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
    | { readonly kind: 'steps'; readonly steps: readonly StepSyntax[] }
    | { readonly kind: 'reference'; readonly stepId: string; readonly at: string };
};

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
  /** Something was said that could not be read, and was reported. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'for'; readonly count: number | string }
  | { readonly kind: 'for_each'; readonly items: string | readonly JsonValue[] };

export type TemplateStep = StepHead & {
  readonly kind: 'template';
  readonly templateId: string;
  /** Where id and arguments of the template stand. */
  readonly callAt: string;
  readonly args: { readonly [name: string]: string };
};

export type ParallelStep = StepHead & {
  readonly kind: 'parallel';
  readonly agentRole?: string;
  readonly delegations: readonly {
    readonly at: string;
    readonly workflowId: string;
    readonly goal?: string;
    readonly runCondition?: Condition;
    readonly contextMapping: { readonly [name: string]: string };
    readonly args: { readonly [name: string]: string };
    readonly modelTier?: string;
    readonly allowedTools: readonly string[];
  }[];
  readonly synthesis?: { readonly prompt?: string; readonly output?: OutputSyntax };
};
