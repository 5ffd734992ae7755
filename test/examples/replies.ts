import { re2Patterns } from '../../src/adapters/patterns.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import { type Autonomy, PRESETS } from '../../src/core/log/autonomy.ts';
import { blockerReport } from '../../src/core/log/blockers.ts';
import type { EngineState } from '../../src/core/log/execution-snapshot.ts';
import { fillReply, type GivenReply, type OpenReply } from '../../src/core/log/operation/stored-reply.ts';
import { REASONS } from '../../src/core/log/reasons.ts';
import type { ReplyParts } from '../../src/core/prompt/reply-parts.ts';
import type { Unmet } from '../../src/core/run/requirements/requirement.ts';
import { checkStep } from '../../src/core/run/requirements/step-requirements.ts';
import type { RunFacts } from '../../src/core/run/step-place.ts';
import { nextStep, pendingStepAt } from '../../src/core/run/walk/next-step.ts';
import { loopVariablesAt } from '../../src/core/run/walk/walking.ts';
import { indexWorkflow, type WorkflowIndex } from '../../src/core/workflow/compiled/workflow-index.ts';
import { compiled } from './compiled.ts';
import { RUN, SESSION } from './ids.ts';

const compilePattern = re2Patterns();

/** As long as tokens of the default format. */
export const TOKENS = {
  sessionId: SESSION,
  stateToken: `st_${'00r1'.padEnd(48, 's')}`,
  ackToken: `ack_${'00r1'.padEnd(48, 'a')}`,
  checkpointToken: `chk_${'00r1'.padEnd(48, 'c')}`,
};

export type Place = {
  readonly mode?: Autonomy;
  readonly context?: JsonObject;
  readonly capabilities?: RunFacts['capabilities'];
  /** How many steps were done before. */
  readonly done?: number;
};

/** The parts of a plain reply to an advance: a run of a workflow file after some of its steps. */
export function partsAt(file: object, { mode = 'guided', context = {}, capabilities = {}, done = 0 }: Place = {}) {
  const index = indexOf(file);
  const facts: RunFacts = { context, preferences: PRESETS[mode], capabilities, compilePattern };
  const onTrouble = mode === 'full_auto_never_stop' ? 'go_on' : 'halt';
  let state: EngineState = { kind: 'init' };
  for (let i = 0; i <= done; i++) state = nextStep({ index, state, facts, loopDecision: undefined, onTrouble }).state;
  return {
    runId: RUN,
    index,
    state,
    facts,
    line: { stepNumber: done + 1, skipped: [] },
    lifecycle: 'advance',
    warnings: [],
    gaps: [],
  } as const satisfies ReplyParts;
}

const indexes = new WeakMap<object, WorkflowIndex>();

function indexOf(file: object): WorkflowIndex {
  const known = indexes.get(file) ?? indexWorkflow(compiled(file));
  indexes.set(file, known);
  return known;
}

/** The same run, blocked by everything that the pending step requires unless a test says otherwise. */
export function blockedParts(parts: ReplyParts, missing?: readonly Unmet[]): ReplyParts {
  const unmet = missing ?? unmetAt(parts);
  const blockers = blockerReport(
    unmet.map(({ reason, pointer, message, suggestedFix }) => ({
      code: REASONS[reason].blocker,
      pointer,
      message,
      suggestedFix,
    })),
  );
  return { ...parts, blocked: { blockers, unmet } };
}

/** What a call lacks for the pending step; by default a call without any output. */
export function unmetAt({ index, state, facts }: ReplyParts, call: JsonObject = {}): readonly Unmet[] {
  const pending = pendingStepAt(index, state);
  if (pending === undefined) throw new Error('no step is pending');
  const { output, context } = call as { output?: JsonObject; context?: JsonObject };
  const artifacts = ((output?.['artifacts'] ?? []) as readonly JsonObject[]).map((value) => ({
    kind: value['kind'] as string | undefined,
    value,
    ref: { sha256: 'sha256:00' as never, contentType: 'application/json', byteLength: 2 },
  }));
  const { unmet } = checkStep({
    index,
    step: pending.step,
    facts: { ...facts, context: { ...facts.context, ...context } },
    loopVariables: loopVariablesAt(index, state),
    handedIn: { notesMarkdown: output?.['notesMarkdown'] as string | undefined, artifacts },
    isRetry: false,
    hasNewNotes: false,
    openLoops: pending.loops.map(({ loopId }) => ({ loopId, stepId: loopId as never, isArtifact: true })),
  });
  return unmet;
}

/** A reply as an agent gets it. */
export function given(reply: OpenReply): GivenReply {
  return fillReply(reply, TOKENS);
}
