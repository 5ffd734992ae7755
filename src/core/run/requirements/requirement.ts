import type { JsonObject } from '../../json/json-value.ts';
import type { Capability, CapabilityStatus } from '../../log/blockers.ts';
import type { LoopId } from '../../log/ids.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { Assessment, PinnedContract } from '../../workflow/compiled/compiled-workflow.ts';
import type { Criteria } from '../../workflow/compiled/criteria.ts';
import type { StepAttempt, StepPlace } from '../step-place.ts';
import { type ExampleOutput, type Found, type StepCheck, type Unmet, withinBudgets } from './step-check.ts';

/** An artifact that a step asks for: its contract, the author's hints, and an example that would be accepted. */
export type AskedArtifact = {
  readonly contract: PinnedContract;
  readonly hints: readonly string[];
  readonly example: JsonObject;
};

/** What each kind of requirement holds, so that a prompt can show it. */
type AskedByKind = {
  readonly notes: unknown;
  readonly criteria: {
    readonly criteria: Criteria;
    /** A step that declares a contract shows its criteria but is not blocked by them. */
    readonly isEnforced: boolean;
    /** Every rule that counts at this place, one text each. */
    readonly bullets: readonly string[];
  };
  readonly output_contract: AskedArtifact & { readonly isRequired: boolean };
  /** The step decides whether this loop has another iteration. */
  readonly loop_control: AskedArtifact & { readonly loopId: LoopId };
  /** One artifact for each assessment; the guidance of the contract covers them all. */
  readonly assessments: {
    readonly assessments: readonly Assessment[];
    readonly contract: PinnedContract;
    readonly hints: readonly string[];
    readonly examples: readonly JsonObject[];
  };
  /** The workflow cannot be done without this. */
  readonly capability: {
    readonly capability: Capability;
    /** What a probe or an attempt has shown on this line; `undefined` where nobody has tried. */
    readonly known: CapabilityStatus | undefined;
    /** Whether an observation that is sent with this very step settles the question. */
    readonly isSettledHere: boolean;
  };
  readonly user_dependency: NonNullable<CompiledStep['userDependency']>;
  /** The user has to approve. */
  readonly approval: unknown;
  /** Only an approving verdict lets the run continue. */
  readonly gate: AskedArtifact;
};

export type RequirementName = keyof AskedByKind;

/** Something that a step asks of an attempt. */
export type Requirement<Name extends RequirementName = RequirementName> = {
  [Kind in Name]: { readonly kind: Kind } & AskedByKind[Kind];
}[Name];

/** A step together with everything it asks for at this place. */
export type AskedPlace = StepPlace & { readonly requirements: readonly Requirement[] };
export type AskedAttempt = StepAttempt & AskedPlace;

/** Whether an attempt meets a requirement: the names it meets, and the problem with each one that it does not. */
export type Checked<Problem> = Pick<StepCheck, 'met'> &
  Partial<Pick<StepCheck, 'assessments' | 'unreadable'>> & {
    readonly problems: readonly { readonly requirement: string; readonly problem: Problem }[];
  };

/** One kind of requirement, from finding it to explaining why it is not met. */
type Parts<Name extends RequirementName, Problem> = {
  /** What the step asks for at this place. */
  readonly find: (place: StepPlace) => readonly Requirement<Name>[];
  /** What the prompt shows; `undefined` where there is nothing to show. */
  readonly ask: (asked: Requirement<Name>, place: AskedPlace) => string | undefined;
  /** What to send; `undefined` where nothing sent from this step can meet it. */
  readonly form: (asked: Requirement<Name>, place: AskedPlace, problem: Problem) => ExampleOutput | undefined;
  /** Whether an attempt meets it. */
  readonly check: (asked: Requirement<Name>, attempt: AskedAttempt) => Checked<Problem>;
  /** The words for an attempt that does not meet it. */
  readonly explain: (
    problem: Problem,
    asked: Requirement<Name>,
    attempt: AskedAttempt,
  ) => Omit<Unmet, 'requirement' | 'example'>;
};

export type RequirementKind<Name extends RequirementName> = Pick<Parts<Name, never>, 'find' | 'ask'> & {
  /** Compares an attempt with the requirement; what is unmet comes with its words and with what to send. */
  readonly judge: (asked: Requirement<Name>, attempt: AskedAttempt) => Found;
};

export function requirementKind<Name extends RequirementName, Problem>(
  parts: Parts<Name, Problem>,
): RequirementKind<Name> {
  const { find, ask, form, check, explain } = parts;
  return {
    find,
    ask,
    judge: (asked, attempt) => {
      const { problems, ...found } = check(asked, attempt);
      const unmet = problems.map(({ requirement, problem }) => {
        const example = form(asked, attempt, problem);
        return withinBudgets({
          ...explain(problem, asked, attempt),
          requirement,
          ...(example === undefined ? {} : { example }),
        });
      });
      return { ...found, unmet };
    },
  };
}

export function met(requirement: string): Checked<never> {
  return { met: [requirement], problems: [] };
}

export function notMet<Problem>(requirement: string, problem: Problem): Checked<Problem> {
  return { met: [], problems: [{ requirement, problem }] };
}

export const NOTHING_CHECKED: Checked<never> = { met: [], problems: [] };
