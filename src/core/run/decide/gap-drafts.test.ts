import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { RUN, SECOND, step } from '../../../../test/examples/ids.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { FACTS } from '../../../../test/examples/walk-through.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { GAPS_CLOSED_MAX, GAPS_OPENED_MAX } from '../../log/budgets.ts';
import { placeEvents } from '../../log/event.ts';
import { contextKeySchema, stepInstanceKey } from '../../log/ids.ts';
import { gapId } from '../../log/operation/operation-drafts.ts';
import type { GapRecord } from '../../views/node-facts.ts';
import type { Unmet } from '../requirements/requirement.ts';
import { type GapSources, gapChanges, gapDrafts, openAfter } from './gap-drafts.ts';

const notes: Unmet = {
  reason: 'contract_violation:missing_required_output',
  pointer: { kind: 'workflow_step', stepId: step('look') },
  message: 'This step requires notes.',
  suggestedFix: 'Send notes.',
  requirement: 'notes:look',
};
const browsing: Unmet = {
  ...notes,
  reason: 'capability_missing:required_capability_unavailable',
  pointer: { kind: 'capability', capability: 'web_browsing' },
  message: 'No web.',
  requirement: 'capability:web_browsing',
};
const scope: Unmet = {
  ...notes,
  reason: 'user_only_dependency:needs_user_choice',
  pointer: { kind: 'context_key', key: contextKeySchema.parse('scope') },
  message: 'How far?',
  requirement: 'user_dependency:scope',
};
const list: Unmet = { ...scope, reason: 'contract_violation:missing_required_output', requirement: 'loop_items:each' };

const changes = (more: Partial<GapSources>) =>
  gapChanges(
    { nodeId: SECOND, step: undefined, unmet: [], met: [], open: [], facts: FACTS, room: 1_000, ...more },
    sha256,
  );
const at = (place: number) => gapId({ nodeId: SECOND, place }, sha256);

/** Gaps as an earlier attempt left them. */
function opened(...unmet: readonly Unmet[]): readonly GapRecord[] {
  const drafts = gapDrafts(changes({ unmet }), { runId: RUN, nodeId: SECOND });
  return placeEvents(drafts, { sessionId: 'sess_0123456789abcdef' as never, firstEventIndex: 0 }, sha256) as never;
}

describe('gaps of an attempt', () => {
  it('an unmet requirement becomes a critical gap by the table of reasons, with what it is about', () => {
    enforces('contract_gap_in_never_stop');
    const tried = stepInstanceKey(step('look'), []);
    expect(changes({ step: tried, unmet: [{ ...notes, details: { n: 1 } }, browsing] }).opened).toEqual([
      {
        gapId: at(0),
        severity: 'critical',
        reason: { category: 'contract_violation', detail: 'missing_required_output' },
        summary: notes.message,
        resolution: { kind: 'unresolved' },
        details: { n: 1, requirement: 'notes:look', pointer: notes.pointer, step: 'look' },
      },
      {
        gapId: at(1),
        severity: 'critical',
        reason: { category: 'capability_missing', detail: 'required_capability_unavailable' },
        summary: 'No web.',
        resolution: { kind: 'unresolved' },
        details: { requirement: 'capability:web_browsing', pointer: browsing.pointer, step: 'look' },
      },
    ]);
  });

  it('a gap about the whole line is recorded once, and a gap about a step each time', () => {
    const open = opened(browsing, scope, notes);
    expect(changes({ unmet: [browsing, scope, notes], open }).opened.map(({ summary }) => summary)).toEqual([
      notes.message,
    ]);
  });

  it('the words and details of a gap stay within their budgets', () => {
    const [gap] = changes({
      unmet: [{ ...notes, message: 'x'.repeat(2_000), details: { text: 'y'.repeat(5_000) } }],
    }).opened;
    expect(gap?.summary).toHaveLength(512);
    expect(gap?.details).toEqual({ requirement: 'notes:look', pointer: notes.pointer });
  });

  it('gaps beyond the limit of one attempt are counted in the last one', () => {
    const many = Array.from({ length: 300 }, (_, n) => ({ ...notes, requirement: `assessment:${n}` }));
    const gaps = changes({ unmet: many }).opened;
    expect(gaps).toHaveLength(GAPS_OPENED_MAX);
    expect(gaps.at(-1)).toMatchObject({
      summary: `${300 - GAPS_OPENED_MAX + 1} more requirements of this step are not met.`,
      severity: 'critical',
    });
    expect(changes({ unmet: many.slice(0, GAPS_OPENED_MAX) }).opened.at(-1)?.summary).toBe(notes.message);
  });
});

describe('an open gap', () => {
  const context = (value: JsonObject) => ({ facts: { ...FACTS, context: value } });
  const power = (status: 'available' | 'unavailable', grade: 'strong' | 'weak') => ({
    facts: { ...FACTS, capabilities: { web_browsing: { status, grade } } },
  });

  it('an open gap is closed by a record that names it when its requirement is met', () => {
    enforces('gap_resolution_written_by_engine');
    const open = opened(notes, browsing);
    expect(changes({ open, met: ['notes:look'] }).closing).toEqual([
      {
        ...open[0]?.data,
        gapId: at(0),
        summary: `Met later: ${notes.message}`,
        resolution: { kind: 'resolves', resolvesGapId: open[0]?.data.gapId },
      },
    ]);
    expect(changes({ open, met: ['notes:other'] }).closing).toEqual([]);
  });

  it.each<[string, Partial<GapSources>, readonly Unmet[]]>([
    ['an answer of the user, wherever it comes', context({ scope: 'all' }), [scope]],
    ['an answer that is no', context({ scope: false }), [scope]],
    ['a capability that is shown', power('available', 'strong'), [browsing]],
  ])('an open gap is closed by %s', (_, more, closed) => {
    enforces('gap_resolution_written_by_engine');
    const open = opened(scope, list, browsing, notes);
    expect(changes({ open, ...more }).closing.map(({ details }) => details?.['requirement'])).toEqual(
      closed.map(({ requirement }) => requirement),
    );
  });

  it.each<[string, Partial<GapSources>]>([
    ['an empty answer', context({ scope: ' ' })],
    ['a capability that is only claimed', power('available', 'weak')],
    ['a capability that is tried in vain', power('unavailable', 'strong')],
  ])('an open gap is not closed by %s', (_, more) => {
    enforces('capability_weak_never_unlocks');
    expect(changes({ open: opened(scope, list, browsing), ...more }).closing).toEqual([]);
  });

  it('an open gap with unknown details stays open', () => {
    const [gap] = opened(notes);
    const odd = [{ requirement: 7 }, { pointer: { kind: 'moon' } }, undefined].map((details) => ({
      ...gap,
      data: { ...gap?.data, details },
    })) as unknown as readonly GapRecord[];
    expect(changes({ open: odd, met: ['notes:look'], ...power('available', 'strong') }).closing).toEqual([]);
  });

  it('an attempt closes a limited number of gaps, the oldest first', () => {
    const open = Array.from({ length: GAPS_CLOSED_MAX + 5 }, (_, n) => {
      const [gap] = opened(notes);
      return { ...gap, data: { ...gap?.data, gapId: gapId({ nodeId: SECOND, place: n + 1_000 }, sha256) } };
    }) as readonly GapRecord[];
    const met = ['notes:look'];
    const all = changes({ open, met });
    expect(all.closing.map(({ resolution }) => resolution)).toEqual(
      open.slice(0, GAPS_CLOSED_MAX).map(({ data }) => ({ kind: 'resolves', resolvesGapId: data.gapId })),
    );
    expect(openAfter(open, all)).toEqual(open.slice(GAPS_CLOSED_MAX).map(({ data }) => data));
    expect(changes({ open, met, room: 3 }).closing).toHaveLength(3);
    expect(changes({ open, met, room: -7 }).closing).toHaveLength(0);
  });
});
