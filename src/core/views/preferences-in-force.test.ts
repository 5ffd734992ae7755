import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { sessionWriter } from '../../../test/simulation/session-writer.ts';
import { PRESETS } from '../log/autonomy.ts';
import { preferencesAt } from './preferences-in-force.ts';
import { foldEvents } from './session-view.ts';

test('the preferences in force at a node are the last ones set on its own line', () => {
  enforces('view_preferences_by_ancestry');
  const writer = sessionWriter();
  const root = writer.startRun();
  const left = writer.advance(root, { mode: 'full_auto_never_stop' });
  const below = writer.advance(left);
  const changed = writer.advance(below, { mode: 'guided' });
  const right = writer.advance(root);

  const { preferences } = foldEvents(writer.events);
  expect([left, below, changed].map(({ nodeId }) => preferencesAt(preferences, nodeId))).toEqual([
    PRESETS.full_auto_never_stop,
    PRESETS.full_auto_never_stop,
    PRESETS.guided,
  ]);
  expect([root, right].map(({ nodeId }) => preferencesAt(preferences, nodeId))).toEqual([undefined, undefined]);
});
