import { Result } from 'neverthrow';
import type { Answer } from '../../../../app/author/play-run.ts';
import type { Sent } from '../../../../app/bench/play/turn.ts';
import type { JsonObject } from '../../../../core/json/json-value.ts';
import { jsonObjectSchema } from '../../../../core/log/field-schemas.ts';
import type { Ask } from '../../../output/ask.ts';

const parseJson = Result.fromThrowable(JSON.parse as (text: string) => unknown);
const NOTHING: Sent = { artifacts: [] };

/** Asks the person at the terminal what the agent hands in; the example of the reply is what is offered first. */
export function askAgent(ask: Ask, onBrokenOff: () => void): Answer {
  return async ({ reply, example }) => {
    const offered = example ?? NOTHING;
    for (;;) {
      const choice = await ask.pick({ message: 'What does the agent hand in?', choices: choicesFor(offered) });
      if (choice === undefined) onBrokenOff();
      if (choice === undefined || choice === 'stop') return undefined;
      if (choice === 'example') return { sent: offered };
      if (choice === 'nothing') return { sent: NOTHING };
      const sent = await changed(ask, choice, offered);
      if (sent !== undefined) return { sent };
      if (reply.isComplete) return undefined;
    }
  };
}

function choicesFor({ notes, artifacts, context }: Sent) {
  const parts = [
    ...(notes === undefined ? [] : ['notes']),
    ...artifacts.map(({ kind }) => String(kind)),
    ...(context === undefined ? [] : [`context ${Object.keys(context).join(', ')}`]),
  ];
  return [
    { value: 'example', label: 'The example', hint: parts.length === 0 ? 'nothing is asked for' : parts.join(', ') },
    { value: 'notes', label: 'Other notes' },
    { value: 'artifacts', label: 'Other artifacts' },
    { value: 'context', label: 'The example, and something into context' },
    { value: 'nothing', label: 'Nothing', hint: 'see what blocks' },
    { value: 'stop', label: 'Stop here' },
  ];
}

async function changed(ask: Ask, choice: string, offered: Sent): Promise<Sent | undefined> {
  if (choice === 'notes') {
    const notes = await ask.write({ message: 'Notes', initial: offered.notes ?? '' });
    return notes === undefined ? undefined : { ...offered, notes };
  }
  if (choice === 'artifacts') {
    const written = await ask.write({
      message: 'Artifacts, as a JSON list',
      initial: JSON.stringify(offered.artifacts),
      check: (text) => (artifactsIn(text) === undefined ? 'That is no JSON list of objects.' : undefined),
    });
    return written === undefined ? undefined : { ...offered, artifacts: artifactsIn(written) ?? [] };
  }
  const written = await ask.write({
    message: 'Context, as a JSON object',
    initial: JSON.stringify(offered.context ?? {}),
    check: (text) => (objectIn(text) === undefined ? 'That is no JSON object.' : undefined),
  });
  return written === undefined ? undefined : { ...offered, context: objectIn(written) };
}

function objectIn(text: string): JsonObject | undefined {
  return jsonObjectSchema.safeParse(parseJson(text).unwrapOr(undefined)).data;
}

function artifactsIn(text: string): readonly JsonObject[] | undefined {
  return jsonObjectSchema.array().safeParse(parseJson(text).unwrapOr(undefined)).data;
}
