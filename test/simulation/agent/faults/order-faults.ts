import type { Call } from '../reader/obedient-reader.ts';
import { hasStepBelow, stepNodeOf } from '../witness/run-nodes.ts';
import type { Told } from '../witness/told.ts';
import { type Fault, hasGotThrough, outputOf, type Scene, type Slip, withArguments } from './fault.ts';

/** Calls that come again, too late, out of place, or from somebody who has forgotten. */
export const ORDER_FAULTS: readonly Fault[] = [
  { name: 'call repeated', slip: repeated },
  { name: 'call repeated with other notes', slip: repeatedWithOtherNotes },
  { name: 'rewound, goes on there', slip: (scene) => rewound(scene, true) },
  { name: 'rewound, does it again', slip: (scene) => rewound(scene, false) },
  { name: 'reply lost, call sent again', slip: lostReply },
  { name: 'reply lost, looks at the step', slip: lostReplyAndLooks },
  { name: 'chat forgotten', slip: forgottenChat },
  { name: 'chat forgotten, old token left', slip: forgottenChatWithOldToken },
  { name: 'two agents on one token', slip: twoAgents },
  { name: 'server killed and started again', slip: killed },
];

/** A look at a step is enough: the agent is told how to report it. */
async function standsAt({ witness }: Scene, wanted: Told, at: Told): Promise<boolean> {
  if (at.warnings.includes('replay_ignored_new_output')) return false;
  return stepNodeOf(await witness.nodeOf(wanted)) === stepNodeOf(await witness.nodeOf(at));
}

/** Where work on a line goes on: no step was taken from there. */
async function isAtTip({ witness }: Scene, at: Told): Promise<boolean> {
  return !hasStepBelow(witness.nodes, await witness.nodeOf(at));
}

function lookAt({ stateToken }: Told): Call {
  return { tool: 'continue_workflow', arguments: { stateToken } };
}

function withOtherNotes(scene: Scene, call: Call): Call {
  const output = { ...outputOf(call), notesMarkdown: scene.notes() };
  return withArguments(call, { output, notes: undefined, notesMarkdown: undefined });
}

function repeated(scene: Scene): Slip | undefined {
  const last = scene.past.at(-1);
  if (last === undefined) return undefined;
  return { call: last.call, isFixed: (at) => standsAt(scene, last.to, at), fromMemory: scene.good };
}

/** What usually follows a rewind: the step is done again, and reported with the token of the first time. */
function repeatedWithOtherNotes(scene: Scene): Slip | undefined {
  const reports = scene.past.filter(({ call }) => call.arguments['ackToken'] !== undefined);
  if (reports.length === 0) return undefined;
  const { at: from, call } = scene.random.pick(reports);
  return { call: withOtherNotes(scene, call), isFixed: (at) => hasGotThrough(scene, from, at), fromMemory: undefined };
}

function rewound(scene: Scene, wantsToRejoin: boolean): Slip | undefined {
  const { past, random } = scene;
  if (past.length === 0) return undefined;
  const { at: from } = random.pick(past);
  return {
    call: lookAt(from),
    isFixed: (at) => (wantsToRejoin ? isAtTip(scene, at) : hasGotThrough(scene, from, at)),
    wantsToRejoin,
    fromMemory: undefined,
  };
}

function lostReply(scene: Scene): Slip {
  const { witness, chat, good } = scene;
  return {
    call: good,
    commit: async () => {
      await witness.send(chat(), good);
      return witness.send(chat(), good);
    },
    isFixed: (at) => hasGotThrough(scene, scene.at, at),
    fromMemory: good,
  };
}

function lostReplyAndLooks(scene: Scene): Slip {
  const { witness, chat, good, at: from } = scene;
  return {
    call: lookAt(from),
    commit: async () => {
      await witness.send(chat(), good);
      return witness.send(chat(), lookAt(from));
    },
    isFixed: async (at) =>
      (await hasGotThrough(scene, from, at)) || (at.kind === 'blocked' && standsAt(scene, from, at)),
    wantsToRejoin: true,
    fromMemory: good,
  };
}

function forgottenChat(scene: Scene): Slip {
  const { witness, freshChat, at: from } = scene;
  return {
    call: lookAt(from),
    commit: async () => witness.send(await freshChat(), lookAt(from)),
    isFixed: (at) => standsAt(scene, from, at),
    fromMemory: undefined,
  };
}

function forgottenChatWithOldToken(scene: Scene): Slip | undefined {
  const { witness, freshChat, past, random } = scene;
  if (past.length === 0) return undefined;
  const call = lookAt(random.pick(past).at);
  return {
    call,
    commit: async () => witness.send(await freshChat(), call),
    isFixed: (at) => isAtTip(scene, at),
    wantsToRejoin: true,
    fromMemory: undefined,
  };
}

/** Both send at once, in one process or in two; this agent comes second, or believes it did. */
function twoAgents(scene: Scene): Slip {
  const { witness, chat, good, random } = scene;
  const mine = withOtherNotes(scene, good);
  return {
    call: mine,
    commit: async () => {
      const second = random.chance(0.5) ? chat() : await scene.freshChat();
      const sent = [
        { chat: chat(), call: good },
        { chat: second, call: mine },
      ];
      const [, ours] = await witness.sendAtOnce(sent);
      if (ours === undefined) throw new Error('two calls have two replies');
      return ours;
    },
    isFixed: (at) => hasGotThrough(scene, scene.at, at),
    fromMemory: mine,
  };
}

/** Everything that the server remembered is gone, nothing that it stored; whether the call got through nobody knows. */
function killed(scene: Scene): Slip {
  const { witness, good, chat } = scene;
  return {
    call: good,
    commit: async () => {
      await scene.restartDuring(good);
      return witness.send(chat(), good);
    },
    isFixed: (at) => hasGotThrough(scene, scene.at, at),
    fromMemory: good,
  };
}
