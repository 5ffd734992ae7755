import { expect, test } from 'vitest';
import { compiled } from '../../../test/examples/compiled.ts';
import { RUN } from '../../../test/examples/ids.ts';
import { PRESETS } from '../log/preferences.ts';
import { firstState, nextState } from '../run/step-selection.ts';
import { type Place, stepReply } from './step-reply.ts';

const workflow = compiled({
  id: 'wr.two',
  name: 'Two',
  description: 'Two steps.',
  steps: [{ id: 'one', title: 'One', prompt: 'Do one.', requireConfirmation: true }],
});

const place: Place = {
  runId: RUN,
  workflow,
  state: firstState(workflow),
  preferences: PRESETS.guided,
  warnings: [],
};

test('the authored prompt comes first, then the place, then the call to make', () => {
  const [prompt, where] = stepReply(place).text;
  expect(prompt).toBe('Do one.\n\n---\n');
  expect(where).toContain('wr.two · step 1 of 1: One');
});

test('only in guided mode does a step that wants confirmation make the agent ask', () => {
  const intents = Object.values(PRESETS).map(
    (preferences) => stepReply({ ...place, preferences }).structured['nextIntent'],
  );
  expect(intents).toEqual([
    'await_user_confirmation',
    'perform_pending_then_continue',
    'perform_pending_then_continue',
  ]);
});

test('a finished run has no ack token and nothing to call', () => {
  const { structured, text } = stepReply({ ...place, state: nextState(workflow, place.state) });
  expect(structured).toMatchObject({ pending: null, isComplete: true, nextIntent: 'complete', nextCall: null });
  expect(structured).not.toHaveProperty('ackToken');
  expect(text).not.toContainEqual({ $hole: 'ackToken' });
});

test('what the agent should know about its call is in the text and in the data', () => {
  const warnings = [{ code: 'note_cut', message: 'Your notes were cut.' }] as const;
  const { structured, text } = stepReply({ ...place, warnings });
  expect(structured['warnings']).toEqual(warnings);
  expect(text).toContain('Note: Your notes were cut.\n');
});
