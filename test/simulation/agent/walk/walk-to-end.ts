import { answerAsPerson, pendingPlace } from '../../../../src/app/author/rehearsal.ts';
import type { Services } from '../../../../src/app/services.ts';
import { filledCall } from '../../../examples/filled-call.ts';
import { type Call, type Reply, readReply, type Sight, withOwnValues } from '../reader/obedient-reader.ts';

export type Walked = {
  readonly calls: number;
  /** The kind of each reply, and the step it left pending. */
  readonly path: readonly string[];
  readonly last: Reply;
  /** Whether the last reply said that all is done; a walk that is not complete is stuck. */
  readonly isComplete: boolean;
};

type Way = { readonly sight: Sight; readonly callsMax: number; readonly services: Services };

/** How often the reader decides to continue a loop before it decides to stop. */
const ROUNDS = 2;

/** Sends the offered calls with every blank filled in until the run is complete. */
export async function walkToEnd(
  send: (call: Call) => Promise<Reply>,
  start: Call,
  { sight, callsMax, services }: Way,
): Promise<Walked> {
  let decisions = 0;
  const own = {
    notes: (filled: string) => filled,
    decision: (filled: string) => (decisions++ < ROUNDS ? 'continue' : filled),
  };
  const path: string[] = [];
  let last = await send(start);
  for (let calls = 1; ; calls++) {
    path.push(standing(last));
    const { next, isComplete } = readReply(last, sight);
    if (isComplete || next === undefined || calls >= callsMax) return { calls, path, last, isComplete };
    last = await send(withOwnValues(await filledAt(services, last, next), own));
  }
}

/** An offered call, filled in. What waits for a person is answered first: the person of the walk approves. */
async function filledAt(services: Services, { structuredContent = {} }: Reply, next: Call): Promise<Call> {
  const { kind, stateToken } = structuredContent as { readonly kind?: string; readonly stateToken?: string };
  if (stateToken === undefined) return filledCall(next);
  if (kind === 'blocked') await answerAsPerson(services, stateToken, 'approve');
  return filledCall(next, await pendingPlace(services, stateToken));
}

function standing({ structuredContent = {} }: Reply): string {
  const { kind, pending, error } = structuredContent as {
    readonly kind?: string;
    readonly pending?: { readonly stepId: string } | null;
    readonly error?: { readonly code: string; readonly message: string };
  };
  return `${kind} ${error === undefined ? (pending?.stepId ?? '-') : `${error.code} ${error.message}`}`;
}
