import { advance } from '../../../src/app/run/advance.ts';
import { startWorkflow } from '../../../src/app/run/start-workflow.ts';
import type { Services } from '../../../src/app/services.ts';
import type { GivenReply } from '../../../src/core/log/operation/stored-reply.ts';
import type { Keyring } from '../../../src/core/token/keyring.ts';
import { SMALL_WORKFLOW } from '../../examples/compiled.ts';
import { memoryServices } from '../../examples/memory-services.ts';
import type { SimulatedStore } from './simulated-store.ts';
import { SMALL_SESSION, SMALL_SESSION_ID } from './small-session.ts';

/** What a store has acknowledged so far. */
export type Progress = {
  readonly keyring: Keyring | undefined;
  readonly isPinned: boolean;
  /** How many plans of the small session. */
  readonly appends: number;
  /** The replies to an agent that runs through a workflow, oldest first. */
  readonly replies: readonly GivenReply[];
};

export const NO_PROGRESS: Progress = { keyring: undefined, isPinned: false, appends: 0, replies: [] };

/** The most replies that a walk can get: its workflow has an end. */
export const REPLIES_MAX = 3;

/** A store that refused what it should have done. */
export type Refused = { readonly what: string; readonly refusal: { readonly code: string } };

/** How far to go: so many acknowledged appends of the small session, and so many replies on a walk. */
export type Goal = { readonly appends: number; readonly replies?: number };

/** Called with every acknowledgement. */
export type Hearing = Goal & { readonly acknowledge?: (progress: Progress) => void };

/**
 * Does what a user of the store does, from where they believe to be: opens the keyring, pins, and sends the next plan
 * (for the second time when a crash kept them from hearing of the first), until so many appends are acknowledged.
 * Then an agent walks on through a workflow, and sends its last token again when it does not know what became of it.
 */
export async function goOn(
  store: SimulatedStore,
  from: Progress,
  { appends, replies = 0, acknowledge = () => undefined }: Hearing,
): Promise<Progress | Refused> {
  const keyring = await store.keyring.open();
  if (keyring.isErr()) return { what: 'open keyring', refusal: keyring.error };
  let progress: Progress = { ...from, keyring: keyring.value };
  acknowledge(progress);
  const pinned = await store.pinnedWorkflows.pin(SMALL_WORKFLOW);
  if (pinned.isErr()) return { what: 'pin workflow', refusal: pinned.error };
  progress = { ...progress, isPinned: true };
  acknowledge(progress);
  while (progress.appends < appends) {
    const { plan } = SMALL_SESSION[progress.appends] ?? { plan: undefined };
    if (plan === undefined) throw new Error(`the small session has no plan ${progress.appends}`);
    const done = await store.sessions.exclusively(SMALL_SESSION_ID, (_, permit) => store.sessions.append(permit, plan));
    if (done.isErr()) return { what: `append ${progress.appends}`, refusal: done.error };
    progress = { ...progress, appends: progress.appends + 1 };
    acknowledge(progress);
  }
  while (progress.replies.length < replies) {
    const reply = await nextReply(servicesOn(store), progress.replies.at(-1));
    if (reply.isErr()) return { what: `reply ${progress.replies.length}`, refusal: reply.error };
    progress = { ...progress, replies: [...progress.replies, reply.value] };
    acknowledge(progress);
  }
  return progress;
}

/** What the use cases need, with everything that lasts on a simulated disk. */
export function servicesOn(store: SimulatedStore): Services {
  return { ...others, ...store };
}

const others = memoryServices();

export async function nextReply(services: Services, last: GivenReply | undefined) {
  if (last === undefined) return startWorkflow(services, { workflowId: 'wr.first_steps' });
  return advance(services, {
    ackToken: String(last.structured['ackToken']),
    output: { notesMarkdown: 'done', artifacts: [] },
  });
}
