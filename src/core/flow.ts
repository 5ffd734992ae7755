import type { Err, Result } from 'neverthrow';

/**
 * The return type of a generator function given to `safeTry`. It keeps the codes of refusals from widening to `string`.
 * Do not yield inside `try`: `safeTry` abandons the generator at the first refusal, so `finally` would not run.
 */
export type Flow<Value, Refusal> = AsyncGenerator<Err<never, Refusal>, Result<Value, Refusal>>;

/** How much of a long piece of work is done. */
export type WorkProgress = { readonly done: number; readonly total: number };

export type OnProgress = (progress: WorkProgress) => void;
