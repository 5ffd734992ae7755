import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { deepFreeze } from '../../../test/simulation/deep-freeze.ts';
import { type CapabilityFact, gapIdOf, outputIdOf } from '../../../test/simulation/node-facts.ts';
import { type SessionWriter, sessionWriter, type WrittenNode } from '../../../test/simulation/session-writer.ts';
import { PRESETS } from '../log/autonomy.ts';
import type { SessionEvent } from '../log/event.ts';
import type { By } from '../log/events/event-envelope.ts';
import { attemptIdSchema } from '../log/ids.ts';
import {
  advanceOutcome,
  attemptCount,
  autonomySetterAt,
  blockedDraft,
  capabilityAt,
  capabilityHistory,
  currentObservation,
  currentOutput,
  currentOutputs,
  decisionTrace,
  gapHistory,
  gapsOfRun,
  isNeverStopByPerson,
  type NodeOutput,
  observationHistory,
  observationsInOrder,
  outputHistory,
  preferencesAt,
  unresolvedGaps,
  wasInRepository,
} from './node-facts.ts';
import { foldEvents } from './session-view.ts';

describe('capabilities', () => {
  test('the latest strong observation of a capability counts, and a later claim never overrides it', () => {
    enforces('view_capability_latest_wins');
    const writer = sessionWriter();
    const root = writer.startRun({ capability: seen('available', 'strong') });
    const failed = writer.advance(root, { capability: seen('unavailable', 'strong') });
    const claimed = writer.advance(failed, { capability: seen('available', 'weak') });
    expect([root, failed, claimed].map((node) => standingAt(writer, node))).toEqual([
      ['available', 'strong'],
      ['unavailable', 'strong'],
      ['unavailable', 'strong'],
    ]);
  });

  test('without a strong observation the latest weak one counts, with its grade', () => {
    enforces('view_capability_latest_wins');
    const writer = sessionWriter();
    const root = writer.startRun({ capability: seen('unavailable', 'weak') });
    const later = writer.advance(root, { capability: seen('available', 'weak') });
    expect(standingAt(writer, later)).toEqual(['available', 'weak']);
    expect(standingAt(writer, root)).toEqual(['unavailable', 'weak']);
  });

  test('a capability that another branch observed is not known on this one', () => {
    enforces('view_capability_latest_wins');
    const writer = sessionWriter();
    const root = writer.startRun();
    writer.advance(root, { capability: seen('available', 'strong') });
    const other = writer.advance(root);
    expect(standingAt(writer, other)).toBeUndefined();
  });

  test('every capability observation of the line stays in the history', () => {
    enforces('view_capability_latest_wins');
    const writer = sessionWriter();
    const root = writer.startRun({ capability: seen('available', 'strong') });
    const later = writer.advance(root, { capability: seen('unknown', 'strong') });
    const history = capabilityHistory(foldEvents(writer.events).capabilities, later.nodeId);
    expect(history).toEqual(writer.events.filter(({ kind }) => kind === 'capability_observed'));
    expect(history).toHaveLength(2);
  });
});

function seen(status: CapabilityFact['status'], grade: CapabilityFact['grade']): CapabilityFact {
  return { capability: 'delegation', status, grade } as CapabilityFact;
}

function standingAt(writer: SessionWriter, { nodeId }: WrittenNode): readonly string[] | undefined {
  const { capabilities } = foldEvents(writer.events);
  const standing = capabilityAt(capabilities, nodeId, 'delegation');
  expect(capabilityAt(capabilities, nodeId, 'web_browsing')).toBeUndefined();
  return standing && [standing.status, standing.grade];
}

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

describe('observations', () => {
  test.each([
    ['a commit', { repo_root: '/work', git_head_sha: 'a'.repeat(40) }, true],
    ['a branch', { repo_root: '/work', git_branch: 'main' }, true],
    ['a folder', { repo_root: '/work' }, false],
    ['nothing', {}, false],
  ])('a workspace of which %s was seen was in a repository: %o %s', (_, observed, expected) => {
    const writer = sessionWriter();
    writer.startRun({ observed });
    expect(wasInRepository(foldEvents(writer.events).observations)).toBe(expected);
  });

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

describe('gaps', () => {
  test('gaps are those of the node’s own line', () => {
    enforces('view_gaps_by_ancestry');
    const writer = sessionWriter();
    const root = writer.startRun({ gaps: [{ name: 'shared' }] });
    const left = writer.advance(root, { gaps: [{ name: 'left' }] });
    const right = writer.advance(root, { gaps: [{ name: 'right' }] });
    expect(openAt(writer, left)).toEqual(['shared', 'left'].map(gapIdOf));
    expect(openAt(writer, right)).toEqual(['shared', 'right'].map(gapIdOf));
    expect(openAt(writer, root)).toEqual([gapIdOf('shared')]);
  });

  test('gaps are resolved by a later record of the same line and by no other', () => {
    enforces('view_gap_resolved_by_later_link');
    const writer = sessionWriter();
    const root = writer.startRun({ gaps: [{ name: 'g' }] });
    const left = writer.advance(root, { gaps: [{ name: 'link', resolves: 'g' }] });
    const below = writer.advance(left);
    const right = writer.advance(root);
    expect([root, left, below, right].map((node) => openAt(writer, node))).toEqual([
      [gapIdOf('g')],
      [],
      [],
      [gapIdOf('g')],
    ]);
  });

  test('gaps of a run are those of all its lines and of no other run', () => {
    const writer = sessionWriter();
    const root = writer.startRun({ gaps: [{ name: 'shared' }] });
    writer.advance(root, { gaps: [{ name: 'left' }] });
    const other = writer.startRun({ gaps: [{ name: 'other' }] });
    writer.advance(root, { gaps: [{ name: 'link', resolves: 'shared' }] });
    const { gaps } = foldEvents(writer.events);
    const idsOf = ({ runId }: WrittenNode) => gapsOfRun(gaps, runId).map(({ data }) => data.gapId);
    expect(idsOf(root)).toEqual(['shared', 'left', 'link'].map(gapIdOf));
    expect(idsOf(other)).toEqual([gapIdOf('other')]);
  });

  test('gaps are never changed: the record stays and the link is a record of its own', () => {
    enforces('gaps_never_mutated');
    const writer = sessionWriter();
    const root = writer.startRun({ gaps: [{ name: 'g' }] });
    const before = structuredClone(writer.events.at(-1));
    writer.record(root, { gaps: [{ name: 'link', resolves: 'g' }] });

    const { gaps } = foldEvents(deepFreeze(writer.events));
    expect(unresolvedGaps(gaps, root.nodeId)).toEqual([]);
    expect(gapHistory(gaps, root.nodeId)).toEqual([before, writer.events.at(-1)]);
  });
});

function openAt(writer: SessionWriter, { nodeId }: WrittenNode): readonly string[] {
  return unresolvedGaps(foldEvents(writer.events).gaps, nodeId).map(({ data }) => data.gapId);
}

describe('outputs', () => {
  test('the current output of a channel is the latest that is not superseded', () => {
    enforces('view_current_output');
    const writer = sessionWriter();
    const root = writer.startRun({ note: { name: 'first', text: 'one' }, artifacts: [{ name: 'a' }, { name: 'b' }] });
    writer.record(root, { note: { name: 'second', text: 'two' } });
    writer.record(root, { note: { name: 'third', text: 'three', supersedes: 'second' } });
    writer.record(root, { note: { name: 'fourth', text: 'four', supersedes: 'third' } });
    writer.record(root, { artifacts: [{ name: 'c', supersedes: 'a' }] });

    const { outputs } = foldEvents(writer.events);
    expect(currentOutput(outputs, root.nodeId, 'recap')?.data.outputId).toBe(outputIdOf('fourth'));
    expect(currentOutput(outputs, root.nodeId, 'artifact')?.data.outputId).toBe(outputIdOf('c'));
    expect(ids(currentOutputs(outputs, root.nodeId))).toEqual(['first', 'b', 'fourth', 'c'].map(outputIdOf));
  });

  test('a superseded output never becomes current again, but an older one that was not superseded does', () => {
    enforces('view_current_output');
    const writer = sessionWriter();
    const root = writer.startRun({ artifacts: [{ name: 'a' }] });
    writer.record(root, { note: { name: 'first', text: 'one' } });
    writer.record(root, { note: { name: 'second', text: 'two', supersedes: 'first' } });
    const { outputs } = foldEvents(writer.events);
    expect(currentOutput(outputs, root.nodeId, 'recap')?.data.outputId).toBe(outputIdOf('second'));
    expect(currentOutput(outputs, root.nodeId, 'artifact')?.data.outputId).toBe(outputIdOf('a'));
  });

  test('a correction leaves the corrected output in the history unchanged', () => {
    enforces('outputs_append_only', 'view_current_output');
    const writer = sessionWriter();
    const root = writer.startRun({ note: { name: 'first', text: 'one' } });
    const before = outputHistory(foldEvents(writer.events).outputs, root.nodeId).map(({ output }) => output);
    writer.record(root, { note: { name: 'second', text: 'two', supersedes: 'first' } });

    const { outputs } = foldEvents(deepFreeze(writer.events));
    expect(outputHistory(outputs, root.nodeId)).toEqual([
      { output: before[0], isSuperseded: true },
      { output: writer.events.at(-1), isSuperseded: false },
    ]);
  });

  test('what a blocked attempt sent is its draft and not an output', () => {
    enforces('view_blocked_drafts_left_out');
    const writer = sessionWriter();
    const root = writer.startRun({ note: { name: 'accepted', text: 'fine' } });
    const blocked = writer.block(root, { note: { name: 'rejected', text: 'draft' }, artifacts: [{ name: 'a' }] });
    const retried = writer.advance(blocked);

    const { outputs } = foldEvents(writer.events);
    expect(currentOutputs(outputs, blocked.nodeId)).toEqual([]);
    expect(currentOutput(outputs, blocked.nodeId, 'recap')).toBeUndefined();
    expect(ids(blockedDraft(outputs, blocked.nodeId))).toEqual(['rejected', 'a'].map(outputIdOf));
    expect([root, retried].map(({ nodeId }) => blockedDraft(outputs, nodeId))).toEqual([[], []]);
  });
});

function ids(outputs: readonly NodeOutput[]): readonly string[] {
  return outputs.map(({ data }) => data.outputId);
}

test('each attempt at a node is found by its number, with its outcome', () => {
  const writer = sessionWriter();
  const root = writer.startRun();
  const blocked = writer.block(root);
  const first = writer.advance(root);
  writer.advance(blocked);

  const { advances } = foldEvents(writer.events);
  const outcomes = [0, 1, 2].map((attempt) => advanceOutcome(advances, root.nodeId, attemptIdSchema.parse(attempt)));
  expect(outcomes.map((record) => record?.data.outcome)).toMatchObject([
    { kind: 'blocked', attemptNodeId: blocked.nodeId },
    { kind: 'advanced', toNodeId: first.nodeId },
    undefined,
  ]);
  expect([root, blocked, first].map(({ nodeId }) => attemptCount(advances, nodeId))).toEqual([2, 1, 0]);
});

test('the trace of a node has its own decisions in order, and nothing of its parent', () => {
  const writer = sessionWriter();
  const root = writer.startRun({ trace: 'first step' });
  const step = writer.advance(root, { trace: 'second step' });
  writer.record(step, { trace: 'and why' });

  const { trace } = foldEvents(writer.events);
  expect([root, step].map(({ nodeId }) => decisionTrace(trace, nodeId).map(({ summary }) => summary))).toEqual([
    ['first step'],
    ['second step', 'and why'],
  ]);
});

describe('who set never-stop', () => {
  const AT_A_TERMINAL: By = { via: 'cli', terminal: true };

  /** A run whose changes of preferences are made as told, one after the other. */
  function changes(
    ...made: readonly {
      readonly source?: 'user' | 'agent' | 'policy' | 'environment' | 'workflow_recommendation' | 'system';
      readonly by?: By;
      readonly mode?: 'guided' | 'full_auto_never_stop';
      readonly isRiskOnly?: true;
    }[]
  ) {
    const writer = sessionWriter();
    const root = writer.startRun({ mode: 'guided' });
    for (const { mode = 'full_auto_never_stop' } of made) writer.record(root, { mode });
    const isChange = (event: SessionEvent) => event.kind === 'preferences_changed';
    const own: readonly SessionEvent[] = writer.events.filter(isChange).slice(1);
    const events = writer.events.map((event): SessionEvent => {
      const how = made[own.indexOf(event)];
      if (event.kind !== 'preferences_changed' || how === undefined) return event;
      const { source = 'user', by, isRiskOnly } = how;
      const delta = isRiskOnly
        ? [{ key: 'riskPolicy' as const, value: event.data.effective.riskPolicy }]
        : event.data.delta;
      return { ...event, ...(by && { by }), data: { ...event.data, source, delta } };
    });
    const view = foldEvents(events);
    return [autonomySetterAt(view.preferences, root.nodeId), isNeverStopByPerson(view, root.nodeId)];
  }

  test('only a terminal, the console and a signed-in member are channels of a person', () => {
    enforces('never_stop_by_person');
    expect(changes({ by: AT_A_TERMINAL })).toEqual(['person', true]);
    expect(changes({ by: { via: 'console' } })).toEqual(['person', true]);
    expect(changes({ by: { via: 'team', principal: 'ada@example.com' } })).toEqual(['person', true]);
    expect(changes({ by: { via: 'team' } })).toEqual(['agent', false]);
    expect(changes({ by: { via: 'cli' } })).toEqual(['command', false]);
    expect(changes({ by: { via: 'config' } })).toEqual(['settings', false]);
    expect(changes({ by: { via: 'mcp' } })).toEqual(['agent', false]);
    for (const source of ['agent', 'policy', 'environment', 'workflow_recommendation', 'system'] as const) {
      expect(changes({ source, by: AT_A_TERMINAL })).toEqual([source, false]);
    }
  });

  test('a user without a channel is from the first release and counts as the agent', () => {
    enforces('never_stop_by_person');
    expect(changes({})).toEqual(['agent', false]);
  });

  test('a later change of the risk policy alone does not change who set the mode', () => {
    enforces('never_stop_by_person');
    expect(changes({ source: 'agent' }, { by: AT_A_TERMINAL, isRiskOnly: true })).toEqual(['agent', false]);
    expect(changes({ by: AT_A_TERMINAL }, { source: 'agent', isRiskOnly: true })).toEqual(['person', true]);
  });

  test('the last one who set the mode counts', () => {
    enforces('never_stop_by_person');
    expect(changes({ by: AT_A_TERMINAL }, { source: 'agent', mode: 'guided' }, { source: 'agent' })).toEqual([
      'agent',
      false,
    ]);
    expect(changes({ source: 'agent' }, { by: AT_A_TERMINAL })).toEqual(['person', true]);
    expect(changes({ by: AT_A_TERMINAL, mode: 'guided' })).toEqual(['person', false]);
  });
});
