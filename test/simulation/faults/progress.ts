import type { Keyring } from '../../../src/core/token/keyring.ts';
import type { SimulatedStore } from './simulated-store.ts';
import { SMALL_SESSION, SMALL_SESSION_ID, SMALL_WORKFLOW } from './small-session.ts';

/** What a store has acknowledged so far. */
export type Progress = {
  readonly keyring: Keyring | undefined;
  readonly isPinned: boolean;
  /** How many plans of the small session. */
  readonly appends: number;
};

export const NO_PROGRESS: Progress = { keyring: undefined, isPinned: false, appends: 0 };

/** A store that refused what it should have done. */
export type Refused = { readonly what: string; readonly refusal: { readonly code: string } };

/** Who hears of every acknowledgement. */
export type Hearing = { readonly appends: number; readonly acknowledge?: (progress: Progress) => void };

/**
 * Does what a user of the store does, from where they believe to be: opens the keyring, pins, and sends the next plan
 * (for the second time when a crash kept them from hearing of the first), until so many appends are acknowledged.
 */
export async function goOn(
  store: SimulatedStore,
  from: Progress,
  { appends, acknowledge = () => undefined }: Hearing,
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
  return progress;
}
