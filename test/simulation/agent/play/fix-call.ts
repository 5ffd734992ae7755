import type { Scene, Slip } from '../faults/fault.ts';
import { type Call, type Reply, readReply, type Sight } from '../reader/obedient-reader.ts';
import { stubbornly } from '../reader/stubborn-reader.ts';
import { type Told, told } from '../witness/told.ts';
import type { Agent } from './agent.ts';

export type FixedCall = {
  /** Calls that were needed after the wrong one; `undefined` when none of them helped. */
  readonly further: number | undefined;
  /** Some reply told no call, and the reader went back to the last one that did. */
  readonly isFromMemory: boolean;
  /** A further call helped, and it was the one that the reply before it offered, with its blanks filled in. */
  readonly isByForm: boolean;
  /** What the last reply says, and the call that it answers. */
  readonly at: Told | undefined;
  readonly by: Call;
  readonly exchanges: readonly { readonly call: Call; readonly reply: Reply }[];
};

type Reader = {
  readonly sight: Sight;
  /** How often the mistake is made before the reply is looked at. */
  readonly wrongTimes: number;
  readonly own: Agent['own'];
};

const FURTHER_MAX = 5;

/** Makes a mistake, and does what the replies say until it is fixed. */
export async function fixCall(scene: Scene, slip: Slip, { sight, wrongTimes, own }: Reader): Promise<FixedCall> {
  let reply = await stubbornly(slip.commit ?? (() => scene.witness.send(scene.chat(), slip.call)), wrongTimes);
  let by = slip.call;
  let isFromMemory = false;
  let isByForm = false;
  const exchanges = [{ call: by, reply }];
  for (let further = 0; ; further++) {
    const at = told(reply);
    const ending = { isFromMemory, isByForm: false, at, by, exchanges };
    if (at !== undefined && (await slip.isFixed(at))) return { ...ending, isByForm, further };
    const { next, rejoin } = readReply(reply, sight);
    const call = slip.wantsToRejoin === true ? (rejoin ?? next) : next;
    const chosen = call === undefined ? slip.fromMemory : own(call, scene.at, at);
    if (chosen === undefined || further === FURTHER_MAX) return { ...ending, further: undefined };
    by = chosen;
    isFromMemory ||= call === undefined;
    isByForm = call !== undefined && isFilledForm(call, chosen);
    reply = await scene.witness.send(scene.chat(), by);
    exchanges.push({ call: by, reply });
  }
}

/** Whether a call is the offered one with every blank filled in, and otherwise unchanged. */
function isFilledForm(offered: Call, sent: Call): boolean {
  return offered.tool === sent.tool && isBlank(offered.arguments) && isFilledIn(offered.arguments, sent.arguments);
}

function isFilledIn(offered: unknown, sent: unknown): boolean {
  if (typeof offered === 'string' && isBlank(offered)) return sent !== undefined && !isBlank(sent);
  if (typeof offered !== 'object' || offered === null) return offered === sent;
  if (typeof sent !== 'object' || sent === null) return false;
  const fields = Object.entries(sent);
  const asked = new Map<string, unknown>(Object.entries(offered));
  return fields.length === asked.size && fields.every(([name, value]) => isFilledIn(asked.get(name), value));
}

function isBlank(value: unknown): boolean {
  return JSON.stringify(value).includes('<fill: ');
}
