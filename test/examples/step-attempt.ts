import { re2Patterns } from '../../src/adapters/patterns.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import type { ArtifactDigest } from '../../src/core/log/ids.ts';
import { unfilledKeys, withoutKeys } from '../../src/core/run/form/unfilled.ts';
import type { FormOutput, StepCheck } from '../../src/core/run/requirements/requirement.ts';
import { checkStep } from '../../src/core/run/requirements/step-requirements.ts';
import { type HandedArtifact, mergeHandedIn, type OpenLoop, type StepAttempt } from '../../src/core/run/step-place.ts';
import { indexWorkflow, stepOf, type WorkflowIndex } from '../../src/core/workflow/compiled/workflow-index.ts';
import { compiled } from './compiled.ts';

const compilePattern = re2Patterns();

/** What a test sets of an attempt; everything else has simple defaults. */
export type Given = Partial<Pick<StepAttempt, 'isRetry' | 'hasNewNotes' | 'loopVariables'>> & {
  readonly stepId?: string;
  readonly notes?: string;
  readonly artifacts?: readonly JsonObject[];
  readonly context?: JsonObject;
  readonly capabilities?: StepAttempt['facts']['capabilities'];
};

/** An attempt at a step of a workflow file, by default the first. */
export function attemptAt(file: object, given: Given = {}): StepAttempt {
  const index = indexWorkflow(compiled({ id: 'wr.tried', name: 'Tried', description: 'A workflow.', ...file }));
  const step = stepOf(index, given.stepId ?? index.workflow.steps[0]?.stepId ?? '');
  return {
    index,
    step,
    facts: {
      context: given.context ?? {},
      preferences: { autonomy: 'guided', riskPolicy: 'conservative' },
      capabilities: given.capabilities ?? {},
      compilePattern,
    },
    loopVariables: given.loopVariables ?? {},
    handedIn: { notesMarkdown: given.notes, artifacts: (given.artifacts ?? []).map(handed) },
    isRetry: given.isRetry ?? false,
    hasNewNotes: given.hasNewNotes ?? false,
    openLoops: loopsAround(index, step.stepId),
  };
}

/** An attempt at the first step of a workflow that has only this one. */
export function tryStep(step: object, given: Given = {}, around: object = {}): StepAttempt {
  return attemptAt({ steps: [{ id: 'work', title: 'Work', prompt: 'Do it.', ...step }], ...around }, given);
}

/** The corrected retry from the blocked attempt, with what the form asks for. */
export function retried(attempt: StepAttempt, { notesMarkdown, artifacts = [], context }: FormOutput): StepAttempt {
  const blankKeys = unfilledKeys(context ?? {});
  return {
    ...attempt,
    blankKeys,
    facts: { ...attempt.facts, context: { ...attempt.facts.context, ...withoutKeys(context ?? {}, blankKeys) } },
    handedIn: mergeHandedIn([attempt.handedIn, { notesMarkdown, artifacts: artifacts.map(handed) }]),
    isRetry: true,
    hasNewNotes: attempt.hasNewNotes || notesMarkdown !== undefined,
  };
}

export function handed(value: JsonObject): HandedArtifact {
  const kind = typeof value['kind'] === 'string' ? value['kind'] : undefined;
  const sha256 = `sha256:${'0'.repeat(64)}` as ArtifactDigest;
  return { kind, value, ref: { sha256, contentType: 'application/json', byteLength: 2 } };
}

/** The loops around a step, outermost first. */
function loopsAround({ workflow, loops }: WorkflowIndex, stepId: string): readonly OpenLoop[] {
  const inside = (entries: WorkflowIndex['workflow']['entries']): readonly OpenLoop[] | undefined => {
    for (const entry of entries) {
      if (entry.kind === 'step' && entry.stepId === stepId) return [];
      const loop = entry.kind === 'loop' ? loops.get(entry.loopId) : undefined;
      const below = loop && inside(loop.body);
      if (loop === undefined || below === undefined) continue;
      return [{ loopId: loop.loopId, stepId: loop.stepId, isArtifact: loop.control.kind === 'artifact' }, ...below];
    }
    return undefined;
  };
  return inside(workflow.entries) ?? [];
}

type Found = Omit<StepCheck, 'filled'>;

/** What is found about an attempt. `filled` is part of it only where something was sent as a blank. */
export function foundAt(attempt: StepAttempt): Found & Partial<StepCheck> {
  const { filled, ...found } = checkStep(attempt);
  const { notesMarkdown, artifacts } = attempt.handedIn;
  const isAll = filled.notesMarkdown === notesMarkdown && filled.artifacts.length === artifacts.length;
  return isAll ? found : { ...found, filled };
}

/** The outcome of an empty attempt at a step without requirements. */
export const NOTHING_FOUND: Found = {
  unmet: [],
  met: [],
  assessments: [],
  checks: [],
  loopDecision: undefined,
  observations: [],
  divergences: [],
  unknownKinds: [],
  blankLeftOut: [],
  unreadable: [],
};
