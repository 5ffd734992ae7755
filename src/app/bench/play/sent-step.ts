import type { SentStep } from '../../../core/author/scenario.ts';
import type { JsonObject } from '../../../core/json/json-value.ts';
import type { Sent } from './turn.ts';

/**
 * What is sent for a listed step: what it says, and the example for the rest. Where a block is wanted, only what it
 * says, because the example would meet what is to be missed.
 */
export function filledIn({ notes, artifacts, context, expect }: SentStep, example: Sent | undefined): Sent {
  if (expect === 'blocked' || example === undefined) {
    return { notes, artifacts: artifacts ?? [], context };
  }
  const given = artifacts ?? [];
  const kinds = new Set(given.map(kindOf));
  const rest = example.artifacts.filter((artifact) => !kinds.has(kindOf(artifact)));
  const whole = { ...example.context, ...context };
  return {
    notes: notes ?? example.notes,
    artifacts: [...given, ...rest],
    ...(Object.keys(whole).length === 0 ? {} : { context: whole }),
  };
}

function kindOf({ kind }: JsonObject): string {
  return String(kind);
}
