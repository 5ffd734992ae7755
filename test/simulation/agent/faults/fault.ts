import type { SeededRandom } from '../../seeded-random.ts';
import type { Call, Reply } from '../reader/obedient-reader.ts';
import { stepNodeOf } from '../witness/run-nodes.ts';
import type { Told } from '../witness/told.ts';
import type { Witness } from '../witness/witness.ts';
import type { Chat } from '../world/world.ts';

/** A place that an agent left behind, the call by which it did, and where that led. */
export type Done = { readonly at: Told; readonly call: Call; readonly to: Told };

/** Where an agent stands when it makes a mistake. */
export type Scene = {
  readonly witness: Witness;
  readonly random: SeededRandom;
  /** The server that the agent talks to now. */
  readonly chat: () => Chat;
  /** Another process over the same store, which remembers nothing. */
  readonly freshChat: () => Promise<Chat>;
  /** Kills the server on a call and starts it again; from then on the chat is with the new one. */
  readonly restartDuring: (call: Call) => Promise<void>;
  /** The run that is at work. */
  readonly at: Told;
  /** The call that would be right, with the agent's own values. */
  readonly good: Call;
  readonly past: readonly Done[];
  /** Other runs that are not finished. */
  readonly others: readonly Told[];
  /** Notes that were never sent before. */
  readonly notes: () => string;
};

/** A mistake that is about to be made. */
export type Slip = {
  /** The call that is wrong, or out of place. */
  readonly call: Call;
  /** Makes the mistake; what comes back is what the agent gets to see. Without it the call is just sent. */
  readonly commit?: () => Promise<Reply>;
  /** Whether the agent now stands where it wanted to. */
  readonly isFixed: (at: Told) => Promise<boolean>;
  /** The agent wants to go on where its work stands, not to do a step again. */
  readonly wantsToRejoin?: boolean;
  /** What the agent makes of the last reply before its mistake, where those after it tell no call; not there when it has forgotten. */
  readonly fromMemory: Call | undefined;
};

export type Fault = {
  readonly name: string;
  /** `undefined` where there is no occasion for it. */
  readonly slip: (scene: Scene) => Slip | undefined;
};

/** A wrong call in the place of the good one, which is fixed when the good one has got through. */
export function wrongCall(scene: Scene, call: Call | undefined): Slip | undefined {
  if (call === undefined) return undefined;
  return {
    call,
    isFixed: (at) => hasGotThrough(scene, scene.at, at),
    fromMemory: scene.good,
  };
}

/** Whether a step was reported: it is done, or only the user is left to be asked. */
export async function hasGotThrough({ witness }: Scene, from: Told, at: Told): Promise<boolean> {
  if (at.warnings.includes('replay_ignored_new_output')) return false;
  const [before, now] = [await witness.nodeOf(from), await witness.nodeOf(at)];
  if (now.kind === 'step') return now.parent !== undefined && stepNodeOf(now.parent) === stepNodeOf(before);
  const blockers = (at.reply.structuredContent?.['blockers'] ?? []) as readonly { readonly code: string }[];
  const isUserAsked = blockers.length > 0 && blockers.every(({ code }) => code === 'USER_ONLY_DEPENDENCY');
  return now !== before && now.kind === 'blocked_attempt' && stepNodeOf(now) === stepNodeOf(before) && isUserAsked;
}

export function withArguments({ tool, arguments: given }: Call, changes: Record<string, unknown>): Call {
  const merged = Object.entries({ ...given, ...changes }).filter(([, value]) => value !== undefined);
  return { tool, arguments: Object.fromEntries(merged) };
}

export type Output = { readonly notesMarkdown?: string; readonly artifacts?: readonly Record<string, unknown>[] };

export function outputOf({ arguments: given }: Call): Output {
  const { output } = given;
  return typeof output === 'object' && !Array.isArray(output) ? (output as Output) : {};
}
