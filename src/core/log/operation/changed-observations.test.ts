import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { digestOf, ROOT, SECOND, SESSION } from '../../../../test/examples/ids.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { parseEvent, placeEvents } from '../event.ts';
import type { ObservationData, ObservationKey, ObservationValue } from '../events/run-events.ts';
import { changedObservations, observationDrafts } from './changed-observations.ts';

const branch = (name: string): ObservationData => ({
  key: 'git_branch',
  value: { type: 'short_string', value: name },
  confidence: 'high',
});
const root: ObservationData = {
  key: 'repo_root',
  value: { type: 'path', value: '/home/dev' },
  confidence: 'high',
};
const held = (...observations: readonly ObservationData[]) =>
  new Map<ObservationKey, ObservationValue>(observations.map(({ key, value }) => [key, value]));

test('only observations that differ from the recorded value are recorded', () => {
  enforces('observation_appended_on_change');
  expect(changedObservations(held(), [branch('main'), root])).toEqual([branch('main'), root]);
  expect(changedObservations(held(branch('main')), [branch('main'), root])).toEqual([root]);
  expect(changedObservations(held(branch('main'), root), [branch('other'), root])).toEqual([branch('other')]);
  expect(changedObservations(held(branch('main'), root), [{ ...branch('main'), confidence: 'low' }, root])).toEqual([]);
});

test('a commit is named by either hash, and another type is another value', () => {
  const sha1: ObservationData = {
    key: 'git_head_sha',
    value: { type: 'git_sha1', value: 'a'.repeat(40) },
    confidence: 'high',
  };
  const sha256: ObservationData = {
    key: 'git_head_sha',
    value: { type: 'sha256', value: digestOf('x') },
    confidence: 'high',
  };
  expect(changedObservations(held(sha1), [sha256])).toEqual([sha256]);
});

test('a value of another type than its key has is left out', () => {
  const odd = { key: 'repo_root', value: { type: 'short_string', value: '/home/dev' }, confidence: 'high' };
  expect(changedObservations(held(), [odd as unknown as ObservationData, branch('main')])).toEqual([branch('main')]);
});

test('observations come in the order of their keys, the last of a key counts', () => {
  expect(changedObservations(held(), [root, branch('a'), branch('b')])).toEqual([branch('b'), root]);
});

test('an observation over its budget is left out, because a shortened value could match another workspace', () => {
  expect(changedObservations(held(), [branch('b'.repeat(81)), root])).toEqual([root]);
  expect(changedObservations(held(), [branch('b'.repeat(80))])).toEqual([branch('b'.repeat(80))]);
});

test('a git branch is recorded again when the user returns to it, and once within one operation', () => {
  enforces('observation_appended_on_change', 'dedupe_key_from_stable_ids');
  const placed = [ROOT, SECOND, ROOT].flatMap((node) =>
    placeEvents(observationDrafts([branch('main')], node, sha256), { sessionId: SESSION, firstEventIndex: 0 }, sha256),
  );
  const [atRoot, atSecond, again] = placed;
  expect(placed.map((event) => parseEvent(event).isOk())).toEqual([true, true, true]);
  expect(again).toEqual(atRoot);
  expect(atSecond?.dedupeKey).not.toBe(atRoot?.dedupeKey);
  expect(atRoot?.dedupeKey).toMatch(new RegExp(`^observation_recorded:${SESSION}:${ROOT}:git_branch:[0-9a-f]{64}$`));
  expect(atRoot?.data).toEqual(branch('main'));
});
