import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { sessionWriter } from '../../../test/simulation/session-writer.ts';
import { foldEvents } from './session-view.ts';
import { currentObservation, observationHistory, observationsInOrder } from './workspace-observations.ts';

describe('observations', () => {
  test('the current observation is the last recorded one, also when an earlier value comes back', () => {
    enforces('view_observation_latest_per_key');
    const writer = sessionWriter();
    const root = writer.startRun({ observed: { git_branch: 'main', repo_root: '/work' } });
    writer.checkpoint(root, { observed: { git_branch: 'topic' } });
    writer.checkpoint(root, { observed: { git_branch: 'main' } });

    const { observations } = foldEvents(writer.events);
    const branches = observationHistory(observations, 'git_branch');
    expect(branches.map(({ data }) => data.value.value)).toEqual(['main', 'topic', 'main']);
    expect(currentObservation(observations, 'git_branch')).toEqual(branches[2]);
    expect(currentObservation(observations, 'repo_root')?.data.value.value).toBe('/work');
    expect(currentObservation(observations, 'git_head_sha')).toBeUndefined();
    expect(observationsInOrder(observations).map(({ data }) => data.value.value)).toEqual([
      'main',
      '/work',
      'topic',
      'main',
    ]);
  });
});
