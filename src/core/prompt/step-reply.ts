import type { JsonObject } from '../json/json-value.ts';
import type { NextIntent } from '../log/error-envelope.ts';
import type { StoredReply } from '../log/events/advance-recorded.ts';
import type { EngineState } from '../log/execution-snapshot.ts';
import { type RunId, runTag } from '../log/ids.ts';
import { hole, storedReply } from '../log/operation/stored-reply.ts';
import type { Preferences } from '../log/preferences.ts';
import { pendingAt } from '../run/step-selection.ts';
import type { CompiledStep } from '../workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';

export type Place = {
  readonly runId: RunId;
  readonly workflow: CompiledWorkflow;
  readonly state: EngineState;
  readonly preferences: Preferences;
  readonly warnings: readonly ReplyWarning[];
};

/** Something the agent should know about the call it just made. */
export type ReplyWarning = { readonly code: 'note_cut'; readonly message: string };

/** What an agent is told at a node: the authored prompt first, then where it is and what to do next. */
export function stepReply(place: Place): StoredReply {
  const pending = pendingAt(place.workflow, place.state);
  return storedReply(
    pending === undefined ? finishedReply(place) : pendingReply(place, pending.step, pending.position),
  );
}

function pendingReply(place: Place, step: CompiledStep, position: number): StoredReply {
  const { workflow, preferences } = place;
  const wantsConfirmation = step.confirmation.kind !== 'none';
  const mustAsk = wantsConfirmation && preferences.autonomy === 'guided';
  const nextIntent: NextIntent = mustAsk ? 'await_user_confirmation' : 'perform_pending_then_continue';
  const ask = mustAsk ? 'Ask the user to confirm before you go on.\n' : '';
  return {
    text: [
      `${step.prompt}\n\n---\n`,
      ...warningLines(place),
      `Run ${runTag(place.runId)} · ${workflow.workflowId} · step ${position} of ${workflow.steps.length}: ${step.title}\n`,
      `${ask}When this step is done, call continue_workflow with {"ackToken":"`,
      hole('ackToken'),
      '","output":{"notesMarkdown":"what you did in this step"}}. The next step is not known before that.\n',
      'To see this step again, call continue_workflow with {"stateToken":"',
      hole('stateToken'),
      '"}.',
    ],
    structured: {
      ...head(place),
      pending: {
        stepId: step.stepId,
        title: step.title,
        prompt: step.prompt,
        requireConfirmation: wantsConfirmation,
        position: { index: position, of: workflow.steps.length },
      },
      stateToken: hole('stateToken'),
      ackToken: hole('ackToken'),
      isComplete: false,
      nextIntent,
      nextCall: {
        tool: 'continue_workflow',
        arguments: { ackToken: hole('ackToken'), output: { notesMarkdown: 'what you did in this step' } },
      },
    },
  };
}

function finishedReply(place: Place): StoredReply {
  const { workflowId, name } = place.workflow;
  return {
    text: [
      `${name} is complete.\n\n---\n`,
      ...warningLines(place),
      `Run ${runTag(place.runId)} · ${workflowId} · complete. Nothing is left to call.\n`,
      'To see this again, call continue_workflow with {"stateToken":"',
      hole('stateToken'),
      '"}.',
    ],
    structured: {
      ...head(place),
      pending: null,
      stateToken: hole('stateToken'),
      isComplete: true,
      nextIntent: 'complete',
      nextCall: null,
    },
  };
}

function head({ runId, workflow, preferences, warnings }: Place): JsonObject {
  return {
    kind: 'ok',
    run: { tag: runTag(runId), workflowId: workflow.workflowId, title: workflow.name },
    session: { sessionId: hole('sessionId'), runId },
    preferences: { autonomy: preferences.autonomy, riskPolicy: preferences.riskPolicy },
    warnings: warnings.map(({ code, message }) => ({ code, message })),
  };
}

function warningLines({ warnings }: Place): readonly string[] {
  return warnings.map(({ message }) => `Note: ${message}\n`);
}
