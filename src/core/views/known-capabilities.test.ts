import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import type { CapabilityFact } from '../../../test/simulation/node-facts.ts';
import { type SessionWriter, sessionWriter, type WrittenNode } from '../../../test/simulation/session-writer.ts';
import { capabilityAt, capabilityHistory } from './known-capabilities.ts';
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
