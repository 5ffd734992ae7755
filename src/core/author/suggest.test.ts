import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextKeysIn, suggestAt } from './suggest.ts';
import { suggestInScenarios } from './suggest-scenario.ts';

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

  it('keys by which an object would be read as another one are offered, and none of them is required', () => {
    expect(at('{"steps": [{"id": "a", "type": "loop", "|"}]}').options).toContainEqual(
      expect.objectContaining({ label: 'loop', insert: '"loop": {}', isNeeded: false }),
    );
    expect(labels('{"steps": [{"id": "a", "type": "loop", "loop": {"type": "while", "|"}}]}')).toContain(
      'conditionSource',
    );
    expect(labels('{"steps": [{"id": "a", "|"}]}')).toEqual(expect.arrayContaining(['templateCall', 'loop', 'prompt']));
    expect(at('{"steps": [{"type": "loop", "bod|"}]}').options.find(({ label }) => label === 'body')?.insert).toBe(
      '"body": []',
    );
    expect(labels('{"steps": [{"id": "a", "type": "standard", "|"}]}')).not.toContain('loop');
    expect(labels('{"steps": [{"id": "a", "runCondition": {|}}]}')).toContain('var');
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

describe('suggestions in a file of scenarios', () => {
  const workflow =
    '{"id": "team.x", "steps": [{"id": "plan", "prompt": "In {{place}}."}, {"id": "rounds", "type": "loop", "body": [{"id": "work"}]}]}';
  const inTests = (marked: string) => suggestInScenarios(marked.replace('|', ''), marked.indexOf('|'), workflow);
  const offered = (marked: string) => inTests(marked).options.map(({ label }) => label);

  it('a scenario offers the keys that it does not have yet, required ones first', () => {
    expect(offered('{"|"}').slice(0, 2)).toEqual(['workflowId', 'scenarios']);
    const found = inTests('{"scenarios": [{"name": "x", "|"}]}').options;
    expect(found[0]).toMatchObject({ label: 'expect', insert: '"expect": {}', isNeeded: true });
    expect(found.map(({ label }) => label)).toEqual(
      expect.arrayContaining(['mode', 'modes', 'goal', 'context', 'steps']),
    );
    expect(found.map(({ label }) => label)).not.toContain('name');
    expect(inTests('{"scenarios": [{"|na": "x"}]}').options.find(({ label }) => label === 'name')?.insert).toBe(
      '"name"',
    );
    expect(offered('{"scenarios": [{"expect": {"|"}}]}')).toEqual(['path', 'skipped', 'blocks', 'gaps', 'complete']);
  });

  it('values are choices, and names of the workflow that is tested', () => {
    expect(offered('{"scenarios": [{"steps": [{"at": "|"}]}]}')).toEqual(['plan', 'rounds', 'work']);
    expect(offered('{"scenarios": [{"expect": {"path": ["plan", "|"]}}]}')).toContain('work');
    expect(offered('{"scenarios": [{"modes": ["|"]}]}')).toContain('full_auto_never_stop');
    expect(offered('{"scenarios": [{"steps": [{"expect": "|"}]}]}')).toEqual(['ok', 'blocked']);
    expect(offered('{"scenarios": [{"expect": {"complete": |}}]}')).toEqual(['true', 'false']);
    expect(offered('{"scenarios": [{"context": {"|"}}]}')).toEqual(['place']);
    expect(offered('{"scenarios": [{"steps": [{"artifacts": [{"at": "|"}]}]}]}')).toEqual([]);
  });

  it('a field is explained', () => {
    expect(inTests('{"scenarios": [{"expect": {"bl|ocks": 1}}]}').field).toEqual({
      name: 'blocks',
      says: 'How many replies were blocks.',
      accepts: '',
    });
    expect(inTests('{"scenarios": [{"nothing": "x|"}]}').field).toBeUndefined();
  });

  it('answers at every place of every unfinished file', () => {
    const text =
      '{"workflowId": "team.x", "scenarios": [{"name": "a", "steps": [{"at": "plan"}], "expect": {"path": []}}]}';
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(text.length), (end, offset) => {
        const { from, to } = suggestInScenarios(text.slice(0, end), Math.min(end, offset), workflow);
        expect(from).toBeLessThanOrEqual(to);
      }),
    );
  });
});
