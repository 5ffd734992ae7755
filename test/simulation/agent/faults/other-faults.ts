import type { Call } from '../reader/obedient-reader.ts';
import { stepNodeOf } from '../witness/run-nodes.ts';
import type { Told } from '../witness/told.ts';
import { SMALL_WORKFLOWS } from '../world/small-workflows.ts';
import { type Fault, hasGotThrough, type Scene, type Slip, withArguments } from './fault.ts';

const MODES = ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'];

/** Mistakes at the start, with checkpoints, and changes of mind in the middle. */
export const OTHER_FAULTS: readonly Fault[] = [
  { name: 'unknown workflow', slip: unknownWorkflow },
  { name: 'checkpoint in between', slip: checkpointInBetween },
  { name: 'checkpoint with a wrong token', slip: (scene) => wrongCheckpoint(scene, wrongCheckpointTokens(scene)) },
  { name: 'checkpoint without output', slip: (scene) => wrongCheckpoint(scene, emptyOutputs(scene)) },
  { name: 'checkpoint repeated with other notes', slip: checkpointRepeated },
  { name: 'mode changed in the middle', slip: modeChanged },
];

function unknownWorkflow(scene: Scene): Slip {
  const { random } = scene;
  const id = random.pick(SMALL_WORKFLOWS);
  const i = 1 + random.below(id.length - 1);
  const workflowId = random.pick([
    id.toUpperCase(),
    id.replace('.', '_'),
    id.slice(4),
    `${id.slice(0, i)}${id.slice(i + 1)}`,
    `${id.slice(0, i)}x${id.slice(i)}`,
    `${id}.json`,
  ]);
  return {
    call: { tool: 'start_workflow', arguments: { workflowId, goal: 'Find it.' } },
    isFixed: async (at) => at.workflowId === id && at.runId !== scene.at.runId,
    fromMemory: undefined,
  };
}

function checkpointOf({ at: { checkpointToken }, notes }: Scene): Call {
  return { tool: 'checkpoint_workflow', arguments: { checkpointToken, output: { notesMarkdown: notes() } } };
}

async function isSaved({ witness }: Scene, from: Told, at: Told): Promise<boolean> {
  if (at.warnings.includes('replay_ignored_new_output')) return false;
  const [before, now] = [await witness.nodeOf(from), await witness.nodeOf(at)];
  return now.kind === 'checkpoint' && stepNodeOf(now) === stepNodeOf(before);
}

/** The step's own ack token works after a checkpoint as it did before. */
function checkpointInBetween(scene: Scene): Slip {
  const { witness, chat, good } = scene;
  const saving = checkpointOf(scene);
  return {
    call: good,
    commit: async () => {
      await witness.send(chat(), saving);
      return witness.send(chat(), good);
    },
    isFixed: (at) => hasGotThrough(scene, scene.at, at),
    fromMemory: good,
  };
}

function wrongCheckpoint(scene: Scene, changes: Record<string, unknown>): Slip {
  const right = checkpointOf(scene);
  return { call: withArguments(right, changes), isFixed: (at) => isSaved(scene, scene.at, at), fromMemory: right };
}

function wrongCheckpointTokens({ at: { ackToken, stateToken, checkpointToken }, random }: Scene) {
  return random.pick([
    { checkpointToken: ackToken },
    { checkpointToken: stateToken },
    { checkpointToken: undefined, stateToken },
    { checkpointToken: undefined, ackToken },
    { checkpointToken: undefined, checkpoint_token: checkpointToken },
    { checkpointToken: checkpointToken.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')) },
  ]);
}

function emptyOutputs({ random }: Scene) {
  return random.pick([{ output: undefined }, { output: {} }, { output: { notesMarkdown: ' ' } }]);
}

function checkpointRepeated(scene: Scene): Slip {
  const { witness, chat } = scene;
  const first = checkpointOf(scene);
  const second = checkpointOf(scene);
  return {
    call: second,
    commit: async () => {
      await witness.send(chat(), first);
      return witness.send(chat(), second);
    },
    isFixed: (at) => isSaved(scene, scene.at, at),
    fromMemory: second,
  };
}

function modeChanged(scene: Scene): Slip {
  const mode = scene.random.pick(MODES);
  const call = withArguments(scene.good, { mode });
  return {
    call,
    isFixed: async (at) => at.mode === mode && (await hasGotThrough(scene, scene.at, at)),
    fromMemory: call,
  };
}
