import { defined, type JsonObject } from '../json/json-value.ts';
import type { Assurance } from '../log/autonomy.ts';
import type { RunId, WorkflowHash } from '../log/ids.ts';
import { fillPlaces } from '../run/condition/context-values.ts';
import { type Picture, runLines } from '../sessions/run-lines.ts';
import type { RunStanding } from '../sessions/run-standing.ts';
import { utf8Length } from '../text/utf8.ts';
import { withoutHidden } from '../text/visible-text.ts';
import type { Check, CompiledStep, Gate } from '../workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { gatesOf } from '../workflow/compiled/condition-references.ts';

/** A run that is complete, with the steps that were done on the line where it ended. */
export type FinishedRun = {
  readonly workflow: CompiledWorkflow;
  readonly steps: readonly CompiledStep[];
  readonly goal: string | undefined;
};

type Looked = Picture & {
  readonly runs: readonly RunStanding[];
  readonly workflowOf: (hash: WorkflowHash) => CompiledWorkflow | undefined;
};

/** The run that was named, or the last one that is complete; `undefined` if there is none. */
export function finishedRun(looked: Looked, named: RunId | undefined): FinishedRun | undefined {
  const { runs, view, workflowOf } = looked;
  const run = runs.findLast(
    ({ runId, place }) => place.kind === 'complete' && (named === undefined || runId === named),
  );
  const pinned = run && view.graph.runs.get(run.runId)?.pinned;
  const workflow = pinned && workflowOf(pinned.workflowHash);
  if (run === undefined || workflow === undefined) return undefined;
  const lines = runLines(looked, run.runId);
  const done = lineageOf(lines).flatMap(({ place, state }) =>
    place.kind === 'step' && state === 'done' ? [String(place.stepId)] : [],
  );
  const byId = new Map(workflow.steps.map((step) => [String(step.stepId), step]));
  // A step of a loop was done in every round, and is written once.
  const steps = [...new Set(done)].flatMap((stepId) => byId.get(stepId) ?? []).filter(isWork);
  return steps.length === 0 ? undefined : { workflow, steps, goal: run.goal };
}

/** The steps from the start of the run to the end of the line where work went on. */
function lineageOf(lines: ReturnType<typeof runLines>): readonly (typeof lines)[number]['steps'][number][] {
  const current = lines.find(({ isCurrent }) => isCurrent);
  if (current === undefined) return [];
  const [first] = current.steps;
  const from = lines.find(({ name }) => name === current.from);
  if (from === undefined || first === undefined) return current.steps;
  const above = lineageOf(lines.map((line) => ({ ...line, isCurrent: line === from })));
  const at = above.findIndex(({ nodeId }) => nodeId === first.nodeId);
  return [...above.slice(0, at === -1 ? above.length : at), ...current.steps];
}

/** Answers that only steer the run are not part of the work. */
function isWork({ purpose }: CompiledStep): boolean {
  return purpose.kind === 'work' || purpose.kind === 'delegation';
}

type Named = { readonly id: string; readonly name: string; readonly description: string };

const EXAMPLE_BYTES = { min: 10, max: 120 };

/** A workflow file with the steps of a run in the order they were done, and a scenario that expects just these. */
export function workflowOfRun(
  { workflow, steps, goal = '' }: FinishedRun,
  naming: Named,
): { readonly workflow: JsonObject; readonly scenarios: readonly JsonObject[] } {
  const example = withoutHidden(goal.replaceAll(/\s+/g, ' ')).trim();
  const isExample = utf8Length(example) >= EXAMPLE_BYTES.min && utf8Length(example) <= EXAMPLE_BYTES.max;
  const written = steps.map(writtenStep);
  return {
    workflow: {
      ...naming,
      version: '0.1.0',
      about: `Made from a run of ${workflow.workflowId}: its steps in the order they were done. Say here what it is for.`,
      ...(isExample && { examples: [example] }),
      tags: [],
      steps: written,
    },
    scenarios: [
      {
        name: 'goes as the run went',
        // Nothing in a rehearsal can verify a check, so it is a gap there.
        ...(steps.some(isVerified) && { mode: 'full_auto_never_stop', modeSetBy: 'person' }),
        expect: { path: written.map(({ id }) => id), complete: true },
      },
    ],
  };
}

function isVerified({ checks = [] }: CompiledStep): boolean {
  return checks.some(({ minimum }) => minimum === 'verified');
}

function writtenStep(step: CompiledStep): JsonObject & { readonly id: string } {
  const { stepId, title, prompt, agentRole, guidance, output, confirmation, userDependency, bindsTree } = step;
  const { kind } = confirmation;
  const asked = kind === 'none' ? undefined : kind === 'confirm' || { kind };
  return {
    id: String(stepId),
    title: generalText(title),
    ...defined({ agentRole: agentRole && generalText(agentRole) }),
    prompt: generalText(prompt),
    ...(guidance.length > 0 && { guidance: guidance.map(generalText) }),
    ...(output?.isRequired && { outputContract: { contractRef: output.contractRef } }),
    ...(!step.isNoteRequired && output?.isRequired !== true && { notesOptional: true }),
    ...(step.checks !== undefined && { checks: step.checks.map(writtenCheck) }),
    ...defined({
      requireConfirmation: asked,
      userDependency: userDependency && askedOfUser(userDependency),
      assurance: writtenAssurance(step),
      bindsTree,
    }),
  };
}

/** The commands belong to the work; a value of context in one is sent by the agent as before. */
function writtenCheck({ checkId, isBound: _, ...check }: Check): JsonObject {
  return defined({ id: checkId, ...check }) as JsonObject;
}

function askedOfUser({ assurance: _, ...asked }: NonNullable<CompiledStep['userDependency']>): JsonObject {
  return defined(asked) as JsonObject;
}

/** In a file, how the answer is known belongs to the step, for its gate and its question alike. */
function writtenAssurance({ confirmation, userDependency, assurance = 'stated' }: CompiledStep): Assurance | undefined {
  const isApproved = confirmation.kind === 'human_approval';
  const needed = [
    ...(isApproved ? [assurance] : []),
    ...(userDependency === undefined ? [] : [userDependency.assurance ?? 'stated']),
  ];
  // They differ only where the file said nothing.
  return needed.every((one) => one === needed[0]) ? needed[0] : undefined;
}

export type LeftOut = { readonly stepId: string; readonly parts: readonly string[] };

/** What the steps have in the workflow of the run and not in the one made from it, by the names that authors write. */
export function leftOut({ steps }: Pick<FinishedRun, 'steps'>): readonly LeftOut[] {
  return steps.flatMap((step) => {
    const parts = Object.entries(LEFT_OUT).flatMap(([part, isIn]) => (isIn(step) ? [part] : []));
    return parts.length === 0 ? [] : [{ stepId: String(step.stepId), parts }];
  });
}

const isConditional = ({ when }: Gate) => when.kind !== 'always';

const LEFT_OUT: { readonly [part: string]: (step: CompiledStep) => boolean } = {
  runCondition: ({ runCondition }) => runCondition !== undefined,
  'the condition of requireConfirmation': ({ confirmation }) => gatesOf(confirmation).some(isConditional),
  promptFragments: ({ fragments }) => fragments.length > 0,
  validationCriteria: ({ criteria }) => criteria !== undefined,
  assessmentRefs: ({ assessmentIds }) => assessmentIds.length > 0,
  functions: ({ functionNames, functionCalls }) => functionNames.length > 0 || functionCalls !== undefined,
  sets: ({ sets }) => sets !== undefined,
  accountsFor: ({ accountsFor }) => accountsFor !== undefined,
  collects: ({ collects }) => collects !== undefined,
  'the optional outputContract': ({ output }) => output?.isRequired === false,
  delegation: ({ purpose }) => purpose.kind === 'delegation',
};

/** Values of context belong to conditions and loops that the new workflow does not have. */
function generalText(text: string): string {
  return fillPlaces(text, (path) => `the value of "${path}"`);
}
