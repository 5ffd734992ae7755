import { type Call, type Reply, readReply, type Sight, withOwnValues } from '../reader/obedient-reader.ts';

export type Walked = {
  readonly calls: number;
  /** The kind of each reply, and the step it left pending. */
  readonly path: readonly string[];
  readonly last: Reply;
  /** Whether the last reply said that all is done; a walk that is not complete is stuck. */
  readonly isComplete: boolean;
};

/** How often a loop is told to go round again before it is told to stop. */
const ROUNDS = 2;

/** Does what it is told until there is nothing left, with the examples as they stand. */
export async function walkToEnd(
  send: (call: Call) => Promise<Reply>,
  start: Call,
  { sight, callsMax }: { readonly sight: Sight; readonly callsMax: number },
): Promise<Walked> {
  let decisions = 0;
  const own = {
    notes: (example: string) => example,
    decision: (example: string) => (decisions++ < ROUNDS ? 'continue' : example),
  };
  const path: string[] = [];
  let last = await send(start);
  for (let calls = 1; ; calls++) {
    path.push(standing(last));
    const { next, isComplete } = readReply(last, sight);
    if (isComplete || next === undefined || calls >= callsMax) return { calls, path, last, isComplete };
    last = await send(withOwnValues(next, own));
  }
}

function standing({ structuredContent = {} }: Reply): string {
  const { kind, pending, error } = structuredContent as {
    readonly kind?: string;
    readonly pending?: { readonly stepId: string } | null;
    readonly error?: { readonly code: string; readonly message: string };
  };
  return `${kind} ${error === undefined ? (pending?.stepId ?? '-') : `${error.code} ${error.message}`}`;
}
