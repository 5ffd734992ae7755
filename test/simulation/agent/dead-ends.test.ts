import { expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { filledCall } from '../../examples/filled-call.ts';
import { type Call, readReply, type Sight } from './reader/obedient-reader.ts';
import { told } from './witness/told.ts';
import { newWitness } from './witness/witness.ts';
import { memoryWorld } from './world/memory-world.ts';
import { SMALL_FILES } from './world/small-workflows.ts';
import { workflowFile } from './world/workflow-files.ts';

const GROUPS = {
  id: 'sim.groups',
  name: 'Groups',
  description: 'A list in a list.',
  steps: [
    { id: 'plan', title: 'Plan', prompt: 'Make the groups.' },
    {
      id: 'groups',
      type: 'loop',
      title: 'Groups',
      loop: { type: 'forEach', items: 'groups', maxIterations: 3, itemVar: 'group' },
      body: [
        { id: 'open', title: 'Open', prompt: 'Open the group.' },
        {
          id: 'members',
          type: 'loop',
          title: 'Members',
          loop: { type: 'forEach', items: 'group.members', maxIterations: 3 },
          body: [{ id: 'visit', title: 'Visit', prompt: 'Visit the member.' }],
        },
      ],
    },
  ],
};
const FILES = [
  ...SMALL_FILES,
  workflowFile({ name: 'sim.groups.json', text: JSON.stringify(GROUPS) }, { kind: 'project' }),
];
const CALLS_MAX = 20;

/** Sends these calls, each with the token it needs, and then the offered calls to the end, with every blank filled in. */
async function walk(calls: readonly Call['arguments'][], sight: Sight): Promise<readonly (string | undefined)[]> {
  const world = memoryWorld(FILES);
  const witness = newWitness(world);
  const chat = await world.newChat();
  const [start = {}, ...rest] = calls;
  let reply = await witness.send(chat, { tool: 'start_workflow', arguments: start });
  for (const given of rest) {
    const { ackToken } = told(reply) ?? {};
    reply = await witness.send(chat, { tool: 'continue_workflow', arguments: { ackToken, ...given } });
  }
  const path = [standing()];
  function standing() {
    const { kind, stepId, isComplete } = told(reply) ?? {};
    return isComplete === true ? 'complete' : `${kind} ${stepId}`;
  }
  for (let i = 0; i < CALLS_MAX; i++) {
    const { next, isComplete } = readReply(reply, sight);
    if (isComplete || next === undefined) break;
    reply = await witness.send(chat, filledCall(next));
    path.push(standing());
  }
  expect(witness.violations).toEqual([]);
  return path;
}

const notes = (text: string) => ({ output: { notesMarkdown: text } });

it.each(['data', 'text'] as const)(
  'a run that passed a probe unattended is led back to it when somebody is to be asked again (%s)',
  async (sight) => {
    enforces('next_call_ready_to_send');
    const calls = [
      { workflowId: 'sim.browsing', mode: 'full_auto_never_stop' },
      {},
      { mode: 'guided', ...notes('Looked it up.') },
    ];
    expect(await walk(calls, sight)).toEqual([
      'blocked look-up',
      'blocked look-up',
      'ok wr_probe_web_browsing',
      'ok look-up',
      'ok hand-over',
      'complete',
    ]);
  },
);

it.each(['data', 'text'] as const)(
  'a loop that finds its list in an item of another one is led back to before that one (%s)',
  async (sight) => {
    enforces('next_call_ready_to_send');
    const calls = [
      { workflowId: 'sim.groups' },
      { context: { groups: [{ members: 'nobody' }] }, ...notes('Made them.') },
      notes('Opened it.'),
    ];
    expect(await walk(calls, sight)).toEqual([
      'blocked open',
      'blocked open',
      'ok plan',
      'blocked plan',
      'ok open',
      'ok visit',
      'complete',
    ]);
  },
);
