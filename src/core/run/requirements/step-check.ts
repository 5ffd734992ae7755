import type { JsonObject } from '../../json/json-value.ts';
import type { Blocker } from '../../log/blockers.ts';
import { BLOCKER_FIX_BYTES_MAX, BLOCKER_MESSAGE_BYTES_MAX } from '../../log/budgets.ts';
import type { EventOf } from '../../log/event.ts';
import { contextKeySchema, type LoopId } from '../../log/ids.ts';
import type { ReasonCode } from '../../log/reasons.ts';
import { truncate, utf8Length } from '../../text/utf8.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';

/** A requirement that an attempt does not meet. The mode decides whether it becomes a block or a gap. */
export type Unmet = {
  readonly reason: ReasonCode;
  readonly pointer: Blocker['pointer'];
  readonly message: string;
  readonly suggestedFix: string;
  readonly details?: JsonObject;
  /** Names the requirement across attempts: when it is met later, its gap is closed. */
  readonly requirement: string;
  /** What a call needs to send to meet it. Absent where no call from this step can. */
  readonly example?: ExampleOutput;
  /** The earlier place where it can be met, if it cannot be met here. */
  readonly earlierStep?: EarlierStep;
};

/** An earlier place of a line: where a step was pending, or the last step before a loop was entered. */
export type EarlierStep =
  | { readonly kind: 'step'; readonly stepId: string }
  | { readonly kind: 'before_loop'; readonly loopId: string };

/** A part of a call. Sent unchanged it is accepted, unless the notes must match a pattern that cannot be guessed. */
export type ExampleOutput = {
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
  /** Requirements that this attempt meets; open gaps of these names are closed by it. */
  readonly met: readonly string[];
  /** Sorted by assessment id. */
  readonly assessments: readonly AcceptedAssessment[];
  /** What a valid loop-control artifact decided. */
  readonly loopDecision: { readonly loopId: LoopId; readonly decision: 'continue' | 'stop' } | undefined;
  readonly observations: readonly Omit<EventOf<'capability_observed'>['data'], 'capObsId'>[];
  readonly divergences: readonly Omit<EventOf<'divergence_recorded'>['data'], 'divergenceId'>[];
  /** Kinds that no contract knows: the artifacts are stored, and the reply warns about them. */
  readonly unknownKinds: readonly string[];
  /** Invalid artifacts that no unmet requirement is about: they are stored, and the reply warns about them. */
  readonly unreadable: readonly UnreadableArtifact[];
};

export type UnreadableArtifact = {
  /** `undefined` where the artifact states no kind. */
  readonly artifactKind: string | undefined;
  readonly message: string;
};

/** The result of checking one requirement. */
export type Found = Pick<StepCheck, 'unmet' | 'met'> & Partial<Pick<StepCheck, 'assessments' | 'unreadable'>>;

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
