import { type JsonObject, quote } from '../json/json-value.ts';
import type { Assurance, Preferences } from '../log/autonomy.ts';
import type { Capability, CapabilityStatus } from '../log/blockers.ts';
import type { LoopId, StepId } from '../log/ids.ts';
import type { ArtifactRef } from '../log/operation/operation-drafts.ts';
import type { PreferenceSetter } from '../views/node-facts.ts';
import type { CompiledStep } from '../workflow/compiled/compiled-step.ts';
import type { Condition } from '../workflow/compiled/condition.ts';
import type { WorkflowIndex } from '../workflow/compiled/workflow-index.ts';
import type { CompilePattern } from '../workflow/pattern.ts';
import { evaluateCondition, type Facts } from './condition/evaluate-condition.ts';
import type { EvidenceFacts } from './evidence/judge-check.ts';
import type { GateFacts } from './gate-facts.ts';
import type { LoopVariables } from './walk/walk.ts';

/** The step at which a run stands, with everything that its requirements depend on. */
export type StepPlace = {
  readonly index: WorkflowIndex;
  readonly step: CompiledStep;
  readonly facts: RunFacts;
  readonly loopVariables: LoopVariables;
};

/** What conditions are judged by. */
export type ConditionPlace = Pick<StepPlace, 'index' | 'loopVariables'> & {
  readonly facts: Pick<RunFacts, 'context' | 'compilePattern'>;
};

/** A loop that the step is inside of. */
export type OpenLoop = {
  readonly loopId: LoopId;
  readonly stepId: StepId;
  /** Whether a loop-control artifact decides about its end. */
  readonly isArtifact: boolean;
};

/** An attempt at a step. The context of its facts already includes what the call sent. */
export type StepAttempt = StepPlace & {
  /** Merged over the chain of blocked attempts. */
  readonly handedIn: HandedIn;
  /** What is known about people's answers; absent where nothing was sent. */
  readonly gate?: GateFacts | undefined;
  /** What commands showed at this step; absent where nothing was sent. */
  readonly evidence?: EvidenceFacts | undefined;
  /** Context keys that were sent as blanks; they are not part of the context. */
  readonly blankKeys?: readonly string[] | undefined;
  /** Whether it continues a blocked attempt: only then was the user asked. */
  readonly isRetry: boolean;
  /** Whether notes were sent after the first block of the chain: with this call or with an earlier retry. */
  readonly hasNewNotes: boolean;
  /** Outermost first. */
  readonly openLoops: readonly OpenLoop[];
};

/** What was sent back as it was offered. Each of these units counts as not sent. */
export type Unfilled = {
  /** Lines of the notes, or none. */
  readonly notes: readonly string[];
  readonly artifacts: readonly { readonly kind: string | undefined; readonly fields: readonly string[] }[];
  readonly contextKeys: readonly string[];
};

/** What conditions see at a place. Loop decisions are not part of it: requirements do not depend on them. */
export function conditionFacts({ index, facts, loopVariables }: ConditionPlace): Facts {
  const { context, compilePattern } = facts;
  return { context, loopVariables, conditions: index.conditions, compilePattern };
}

export function holdsAt(place: StepPlace, condition: Condition): boolean {
  return evaluateCondition(condition, conditionFacts(place));
}

/** Who must confirm before the run continues; `none` also where its condition does not hold. */
export type DueConfirmation = CompiledStep['confirmation']['kind'];

/** What a step asks for at this place: the first, which is the strongest, whose condition holds. */
export function dueConfirmation(place: StepPlace): DueConfirmation {
  let asked = place.step.confirmation;
  while (asked.kind !== 'none' && !holdsAt(place, asked.when)) asked = asked.otherwise ?? { kind: 'none' };
  return asked.kind;
}

/** What is known of a capability on a line; absent where nobody has tried it. */
export type KnownCapabilities = {
  readonly [capability in Capability]?: { readonly status: CapabilityStatus; readonly grade: 'strong' | 'weak' };
};

/** Everything about a place in a run that is not part of its pinned workflow. */
export type RunFacts = {
  readonly context: JsonObject;
  readonly preferences: Preferences;
  readonly capabilities: KnownCapabilities;
  readonly compilePattern: CompilePattern;
  /** What the settings say about gates; without it the agent's word counts, and nothing passes a gate. */
  readonly gates?: GateFactsOfSettings | undefined;
  /** Who set the autonomy. */
  readonly setBy?: PreferenceSetter | undefined;
  /** Where the workflow comes from, in words. */
  readonly source?: string | undefined;
  /** What a person or an agent types for `workrail` here. */
  readonly command?: string | undefined;
  /** The tag of the run, for command lines. */
  readonly tag?: string | undefined;
};

type GateFactsOfSettings = {
  /** The lowest assurance that counts on this machine. */
  readonly minimum: Assurance;
  /** The user's settings say that nobody can answer here, so never-stop passes a gate with a gap. */
  readonly isUnattended: boolean;
  /** Where people answer, if that is a page on another machine. */
  readonly page?: string | undefined;
  /** With four eyes: who set the mode has a part in the draft, so the mode is no word of somebody else. */
  readonly isModeOfMaker?: boolean | undefined;
};

/** What lets never-stop pass a gate with a gap; `undefined` where the gate holds. Nothing that an agent sets does. */
export function gatePass({ preferences, setBy, gates }: RunFacts): 'person' | 'settings' | undefined {
  if (preferences.autonomy !== 'full_auto_never_stop') return undefined;
  if (setBy === 'person' && gates?.isModeOfMaker !== true) return 'person';
  return gates?.isUnattended === true ? 'settings' : undefined;
}

/** A structured result that an agent sent. */
export type HandedArtifact = {
  /** The kind that the artifact states; it may state none. */
  readonly kind: string | undefined;
  readonly value: JsonObject;
  readonly ref: ArtifactRef;
};

/** What an attempt sends. Blank notes count as none. */
export type HandedIn = {
  readonly notesMarkdown: string | undefined;
  readonly artifacts: readonly HandedArtifact[];
};

/**
 * What counts for an attempt: this call merged over the blocked attempts above it, oldest first. The later one wins,
 * for notes and for each slot of artifacts, so that nothing needs to be sent twice.
 */
export function mergeHandedIn(attempts: readonly HandedIn[]): HandedIn {
  const bySlot = new Map<string, readonly HandedArtifact[]>();
  for (const { artifacts } of attempts) {
    for (const slot of new Set(artifacts.map(slotOf))) {
      // Removed first, so that what was sent later also comes later.
      bySlot.delete(slot);
      bySlot.set(
        slot,
        artifacts.filter((artifact) => slotOf(artifact) === slot),
      );
    }
  }
  return {
    notesMarkdown: attempts.findLast(({ notesMarkdown }) => notesMarkdown !== undefined)?.notesMarkdown,
    artifacts: [...bySlot.values()].flat(),
  };
}

/** Artifacts of one kind that are about different things do not replace each other. */
function slotOf({ kind, value }: HandedArtifact): string {
  const about = value['assessmentId'] ?? value['capability'] ?? null;
  return quote([kind ?? null, typeof about === 'string' ? about : null]);
}
