import type { JsonObject } from '../../src/core/json/json-value.ts';
import type { WalkedWorkflow } from '../../test/examples/walked-workflows.ts';
import { type Call, type Layer, type Reply, textOf } from './layers.ts';

/** An agent that runs through a workflow. */
export type Walker = {
  /** The last reply. */
  readonly at: () => Reply;
  /** The call that reports the step of that reply. */
  readonly next: () => Call;
  /** Continues from a reply to that call. */
  readonly goOn: (reply: Reply) => void;
};

export async function startWalk(workflow: WalkedWorkflow, layer: Layer): Promise<Walker> {
  let at = (await layer.ready({ tool: 'start_workflow', arguments: workflow.start })())();
  let count = 0;
  return {
    at: () => at,
    next: () => reportOf(workflow, at, count),
    goOn: (reply) => {
      if (reply.structured['kind'] !== 'ok') throw new Error(`held up: ${reply.text}`);
      at = reply;
      count += 1;
    },
  };
}

/** Runs steps one after the other. */
export async function walk(walker: Walker, layer: Layer, steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) walker.goOn((await layer.ready(walker.next())())());
}

function reportOf({ report }: WalkedWorkflow, { structured }: Reply, count: number): Call {
  const { stepId } = structured['pending'] as JsonObject;
  const ackToken = textOf(structured['ackToken']);
  return { tool: 'continue_workflow', arguments: { ackToken, ...report(textOf(stepId), count) } };
}
