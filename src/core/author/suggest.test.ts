import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextKeysIn, suggestAt } from './suggest.ts';

/** The mark says where the cursor is. */
const at = (marked: string) => suggestAt(marked.replace('|', ''), marked.indexOf('|'));
const labels = (marked: string) => at(marked).options.map(({ label }) => label);

describe('suggestions from the field table', () => {
  it('a file offers the keys that it does not have yet, required ones first', () => {
    const found = at('{"id": "team.x", "|"}');
    expect(found.options.slice(0, 3).map(({ label, isNeeded }) => [label, isNeeded])).toEqual([
      ['name', true],
      ['description', true],
      ['steps', true],
    ]);
    expect(found.options.map(({ label }) => label)).not.toContain('id');
    expect(found.options.find(({ label }) => label === 'steps')).toMatchObject({
      insert: '"steps": []',
      says: 'The steps, in order.',
    });
  });

  it('a step that is being written offers its own keys, and keeps a value that is there', () => {
    const marked = '{"steps": [{"id": "a", "prompt": "Do it.", "outp|"\n}]}';
    expect(labels(marked)).toContain('outputContract');
    expect(labels('{"steps": [{"id": "a", "outp|')).toContain('outputContract');
    const kept = at('{"steps": [{"|outp": {}}]}').options.find(({ label }) => label === 'outputContract');
    expect(kept?.insert).toBe('"outputContract"');
  });

  it('values are choices, built-ins, and names of the same file', () => {
    expect(labels('{"steps": [{"outputContract": {"contractRef": "|"}}]}')).toContain('wr.contracts.findings');
    expect(labels('{"steps": [{"type": "loop", "loop": {"type": "|"}}]}')).toContain('while');
    const named =
      '{"conditions": [{"id": "is-large"}], "steps": [{"runCondition": {"kind": "condition_ref", "conditionId": "|"}}]}';
    expect(labels(named)).toEqual(['is-large']);
  });

  it('a field is explained with what it takes', () => {
    expect(at('{"steps": [{"pro|mpt": "x"}]}').field).toMatchObject({
      name: 'prompt',
      accepts: 'text of at most 8192 bytes',
    });
    expect(at('{"steps": [{"prompt": "x|"}]}').field?.name).toBe('prompt');
    expect(at('{"nothing": "x|"}').field).toBeUndefined();
  });

  it('names the values of context that a file reads', () => {
    const text =
      '{"steps": [{"prompt": "In {{place}} and {{ item.name }}.", "runCondition": {"var": "size", "equals": 1}}]}';
    expect(contextKeysIn(text)).toEqual(['size', 'place', 'item']);
  });

  it('answers at every place of every unfinished file', () => {
    const text =
      '{"id": "team.x", "steps": [{"id": "a", "type": "loop", "loop": {"type": "while"}, "body": [{"id": "b", "prompt": "x"}]}]}';
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(text.length), (end, offset) => {
        const { from, to } = suggestAt(text.slice(0, end), Math.min(end, offset));
        expect(from).toBeLessThanOrEqual(to);
      }),
    );
  });
});
