import { type JsonObject, quote } from '../../json/json-value.ts';
import type { Assurance } from '../../log/autonomy.ts';
import type { Blocker, Capability, CapabilityStatus } from '../../log/blockers.ts';
import { BLOCKER_FIX_BYTES_MAX, BLOCKER_MESSAGE_BYTES_MAX } from '../../log/budgets.ts';
import type { EventOf } from '../../log/event.ts';
import { contextKeySchema, type EventId, type LoopId } from '../../log/ids.ts';
import { REASONS, type ReasonCode } from '../../log/reasons.ts';
import { clip, truncate, utf8Length } from '../../text/utf8.ts';
import type { Check, CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { Assessment, PinnedContract } from '../../workflow/compiled/compiled-workflow.ts';
import type { Criteria } from '../../workflow/compiled/criteria.ts';
import type { CheckStanding } from '../evidence/judge-check.ts';
import type { HandedIn, StepAttempt, StepPlace, Unfilled } from '../step-place.ts';

/** An artifact that a step asks for: its contract, the author's hints, and the form to fill in. */
export type AskedArtifact = {
  readonly contract: PinnedContract;
  readonly hints: readonly string[];
  readonly form: JsonObject;
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
    readonly forms: readonly JsonObject[];
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
  readonly approval: { readonly assurance?: Assurance };
  /** Only an approving verdict lets the run continue. */
  readonly gate: AskedArtifact;
  /** A list of context that this step sets, and whose entries need ids because a later step accounts for them. */
  readonly ids: { readonly key: string; readonly prefix: string };
  /** The notes need a line for each of these ids. */
  readonly accounts: { readonly key: string; readonly ids: readonly string[] };
  /** With a form where a report by the agent is enough. */
  readonly check: { readonly check: Check; readonly form?: JsonObject };
};

export type RequirementName = keyof AskedByKind;

/** Something that a step asks of an attempt. */
export type Requirement<Name extends RequirementName = RequirementName> = {
  [Kind in Name]: { readonly kind: Kind } & AskedByKind[Kind];
}[Name];

/** A step together with everything it asks for at this place. */
export type AskedPlace = StepPlace & { readonly requirements: readonly Requirement[] };
/** What counts of an attempt: `handedIn` is without what was not filled in. */
export type AskedAttempt = StepAttempt & AskedPlace & { readonly unfilled: Unfilled };

/** Whether an attempt meets a requirement: the names it meets, and the problem with each one that it does not. */
export type Checked<Problem> = Pick<StepCheck, 'met'> &
  Partial<Pick<StepCheck, 'assessments' | 'unreadable' | 'checks'>> & {
    readonly problems: readonly { readonly requirement: string; readonly problem: Problem }[];
  };

/** One kind of requirement, from finding it to explaining why it is not met. */
type Parts<Name extends RequirementName, Problem> = {
  /** What the step asks for at this place. */
  readonly find: (place: StepPlace) => readonly Requirement<Name>[];
  /** What the prompt shows; `undefined` where there is nothing to show. */
  readonly ask: (asked: Requirement<Name>, place: AskedPlace) => string | undefined;
  /** What to send; `undefined` where nothing sent from this step can meet it. */
  readonly form: (asked: Requirement<Name>, place: AskedAttempt, problem: Problem) => FormOutput | undefined;
  /** Whether an attempt meets it. */
  readonly check: (asked: Requirement<Name>, attempt: AskedAttempt) => Checked<Problem>;
  /** The words for an attempt that does not meet it; no message where naming the blank says it all. */
  readonly explain: (
    problem: Problem,
    asked: Requirement<Name>,
    attempt: AskedAttempt,
  ) => Omit<Unmet, 'requirement' | 'form' | 'blanks'>;
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
        const offered = form(asked, attempt, problem);
        const words = explain(problem, asked, attempt);
        const blanks = offered === undefined ? [] : unfilledUnits(attempt.unfilled, offered);
        return withBlanks(
          {
            ...words,
            requirement,
            ...(offered === undefined ? {} : { form: offered }),
          },
          blanks,
        );
      });
      return { ...found, unmet };
    },
  };
}

/** Names what was sent back as it was offered, so that the agent does not look for another mistake. */
export function withBlanks(unmet: Unmet, blanks: readonly string[]): Unmet {
  if (blanks.length === 0) return withinBudgets(unmet);
  return withinBudgets({ ...unmet, message: `${blankWords(blanks)}${unmet.message}`.trimEnd(), blanks });
}

function blankWords(blanks: readonly string[]): string {
  return blanks.length === 0 ? '' : `${NOT_FILLED_IN}: ${blanks.join(', ')}. `;
}

/** The messages of what is unmet. Of those that are shown together, the first names all blanks. */
export function messagesWithoutRepeats(unmet: readonly Unmet[]): readonly string[] {
  const placeOf = ({ reason, pointer }: Unmet) => quote([REASONS[reason].blocker, pointer]);
  const groups = new Map<string, readonly Unmet[]>();
  for (const one of unmet) groups.set(placeOf(one), [...(groups.get(placeOf(one)) ?? []), one]);
  return unmet.map((one) => {
    const group = (groups.get(placeOf(one)) ?? []).filter(({ blanks }) => blanks !== undefined);
    const head = blankWords(one.blanks ?? []);
    if (group.length < 2 || head === '') return one.message;
    const all = group[0] === one ? blankWords([...new Set(group.flatMap(({ blanks = [] }) => blanks))]) : '';
    const rest = one.message.slice(head.length);
    return `${all}${rest}`.trimEnd() || one.message;
  });
}

const NOT_FILLED_IN = 'Not filled in';
const UNFILLED = 'You sent the form unfilled';

/** Whether a blocker names blanks. Logs of earlier versions have the words that now begin the reply. */
export function isAboutBlanks({ message }: { readonly message: string }): boolean {
  return [NOT_FILLED_IN, UNFILLED].some((words) => message.startsWith(`${words}: `));
}

/** The names of what was not filled in; with a form, only of what it asks for. */
export function unfilledUnits({ notes, artifacts, contextKeys }: Unfilled, form?: FormOutput): readonly string[] {
  const kinds = form?.artifacts?.map(({ kind }) => kind);
  const keys = form && Object.keys(form.context ?? {});
  const areNotesMeant = form === undefined || form.notesMarkdown !== undefined;
  const named = artifacts.filter(({ kind }) => kinds === undefined || (kind !== undefined && kinds.includes(kind)));
  const units = [
    ...(areNotesMeant && notes.length > 0 ? ['`output.notesMarkdown`'] : []),
    ...named.map(({ kind = 'artifact', fields }) => `${clip(kind)} (${clip(fields.join(', '), FIELDS_BYTES_MAX)})`),
    ...contextKeys.filter((key) => keys?.includes(key) ?? true).map((key) => `context ${clip(quote(key))}`),
  ];
  return [...new Set(units)];
}

const FIELDS_BYTES_MAX = 120;

export function met(requirement: string): Checked<never> {
  return { met: [requirement], problems: [] };
}

export function notMet<Problem>(requirement: string, problem: Problem): Checked<Problem> {
  return { met: [], problems: [{ requirement, problem }] };
}

export const NOTHING_CHECKED: Checked<never> = { met: [], problems: [] };

/** A requirement that an attempt does not meet. The mode decides whether it becomes a block or a gap. */
export type Unmet = {
  /** How grave its gap is; by default critical. Anything less never holds a run up. */
  readonly severity?: 'warning' | 'info';
  readonly reason: ReasonCode;
  readonly pointer: Blocker['pointer'];
  readonly message: string;
  readonly suggestedFix: string;
  readonly details?: JsonObject;
  /** Events that show what was tried. */
  readonly evidence?: readonly EventId[];
  /** What the message names first: parts of the call that were not filled in. */
  readonly blanks?: readonly string[];
  /** Names the requirement across attempts: when it is met later, its gap is closed. */
  readonly requirement: string;
  /** What a call needs to send to meet it. Absent where no call from this step can. */
  readonly form?: FormOutput;
  /** The earlier place where it can be met, if it cannot be met here. */
  readonly earlierStep?: EarlierStep;
};

/** An earlier place of a line: where a step was pending, or the last step before a loop was entered. */
export type EarlierStep =
  | { readonly kind: 'step'; readonly stepId: string }
  | { readonly kind: 'before_loop'; readonly loopId: string };

/** A part of a call, with blanks where the agent must supply a value. Sent unchanged it counts as nothing. */
export type FormOutput = {
  readonly notesMarkdown?: string;
  readonly artifacts?: readonly JsonObject[];
  readonly context?: JsonObject;
};

/** An accepted assessment: declared levels, and a note for each level that was written differently. */
export type AcceptedAssessment = {
  readonly assessmentId: string;
  readonly dimensions: readonly {
    readonly dimensionId: string;
    readonly level: string;
    readonly rationale?: string;
  }[];
  readonly normalizationNotes: readonly string[];
};

/** The result of checking an attempt, before the mode decides what follows from it. */
export type StepCheck = {
  readonly unmet: readonly Unmet[];
  /** What was passed over without holding the run up; recorded as gaps of a lesser severity. */
  readonly passedOver?: readonly Unmet[];
  /** Requirements that this attempt meets; open gaps of these names are closed by it. */
  readonly met: readonly string[];
  /** Sorted by assessment id. */
  readonly assessments: readonly AcceptedAssessment[];
  /** How well each check of the step is known to have passed. */
  readonly checks: readonly CheckStanding[];
  /** What a valid loop-control artifact decided. */
  readonly loopDecision: { readonly loopId: LoopId; readonly decision: 'continue' | 'stop' } | undefined;
  readonly observations: readonly Omit<EventOf<'capability_observed'>['data'], 'capObsId'>[];
  readonly divergences: readonly Omit<EventOf<'divergence_recorded'>['data'], 'divergenceId'>[];
  /** Kinds that no contract knows: the artifacts are stored, and the reply warns about them. */
  readonly unknownKinds: readonly string[];
  /** What counts of the output: without what was not filled in. */
  readonly filled: HandedIn;
  /** What was not filled in and is not required; it is left out, and the reply warns about it. */
  readonly blankLeftOut: readonly string[];
  /** Invalid artifacts that no unmet requirement is about: they are stored, and the reply warns about them. */
  readonly unreadable: readonly UnreadableArtifact[];
};

export type UnreadableArtifact = {
  /** `undefined` where the artifact states no kind. */
  readonly artifactKind: string | undefined;
  readonly message: string;
  /** What to send instead, where it can be sent later. */
  readonly corrected?: JsonObject;
};

/** The result of checking one requirement. */
export type Found = Pick<StepCheck, 'unmet' | 'met'> &
  Partial<Pick<StepCheck, 'assessments' | 'unreadable' | 'checks'>>;

/** Makes the words of an unmet requirement fit, whatever an author wrote. */
export function withinBudgets(unmet: Unmet): Unmet {
  return {
    ...unmet,
    message: truncate(unmet.message, BLOCKER_MESSAGE_BYTES_MAX),
    suggestedFix: truncate(unmet.suggestedFix, BLOCKER_FIX_BYTES_MAX),
  };
}

export function stepPointer({ stepId }: CompiledStep): Unmet['pointer'] {
  return { kind: 'workflow_step', stepId };
}

/** A key that is not valid in a pointer is named in the message only; the pointer is then the step. */
export function contextPointer(key: string, step: CompiledStep): Unmet['pointer'] {
  const safe = contextKeySchema.safeParse(key);
  return safe.success ? { kind: 'context_key', key: safe.data } : stepPointer(step);
}

/** As many whole items as fit after the head, then how many more there are. */
export function fitItems(
  items: readonly string[],
  { head, separator, bytesMax }: { readonly head: string; readonly separator: string; readonly bytesMax: number },
): string {
  for (let kept = items.length; kept > 0; kept--) {
    const more = items.length - kept;
    const text = `${head}${items.slice(0, kept).join(separator)}${more === 0 ? '' : `${separator}and ${more} more`}`;
    if (utf8Length(text) <= bytesMax) return text;
  }
  return truncate(`${head}${items[0] ?? ''}`, bytesMax);
}
