import { describe, expect, it } from 'vitest';
import { compileValue, found } from '../../../../test/compiler/compile-file.ts';
import { applyFixes } from '../diagnostics/diagnostic.ts';

const workflow = (rest: object) => ({
  id: 'test.declarations',
  name: 'N',
  description: 'D',
  steps: [{ id: 'a', title: 'T', prompt: 'P' }],
  ...rest,
});
const foundIn = (rest: object, bindings: { readonly [slot: string]: string } = {}) =>
  found(compileValue(workflow(rest), { bindings }));

describe('the levels of a dimension', () => {
  it('levels must differ in more than case', () => {
    const dimensions = [{ id: 'd', purpose: 'P', levels: ['low', 'high', ' LOW'] }];
    expect(foundIn({ assessments: [{ id: 'q', purpose: 'P', dimensions }] })).toEqual([
      'error duplicate_id /assessments/0/dimensions/0/levels/2',
    ]);
  });
});

describe('a version', () => {
  it.each(['1.0.0', '0.1.12', '2.0.0-beta.1', '1.0.0+build.5'])('is semantic, like %s', (version) => {
    expect(foundIn({ version })).toEqual([]);
  });

  it.each([
    ['1.0', '1.0.0'],
    ['v2', '2.0.0'],
    ['v1.2.3-rc.1', '1.2.3-rc.1'],
    ['01.2.3', '1.2.3'],
    ['latest', undefined],
    ['1.2.3.4', undefined],
  ])('is not %s', (version, meant) => {
    const result = compileValue(workflow({ version }));
    expect(found(result)).toEqual(['warning wrong_value /version']);
    const text = JSON.stringify(workflow({ version }), null, 2);
    const fixed = JSON.parse(applyFixes(text, result.diagnostics).text) as { version: string };
    expect(fixed.version).toBe(meant ?? version);
  });
});

describe('an extension point', () => {
  const point = (rest: object) => ({ extensionPoints: [{ slotId: 's', purpose: 'P', default: 'x', ...rest }] });

  it('the default of an extension point may be as long as a binding', () => {
    expect(foundIn(point({ default: 'x'.repeat(2048) }))).toEqual([]);
    expect(foundIn(point({ default: 'x'.repeat(2049) }))).toEqual(['error text_too_long /extensionPoints/0/default']);
  });

  it('an extension point accepts only the kinds it names', () => {
    const review = 'wr.templates.routine.design-review';
    const routine = point({ default: review, acceptedKinds: ['routine'] });
    expect(foundIn(routine)).toEqual([]);
    expect(foundIn(routine, { s: 'project.templates.routine.triage' })).toEqual([]);
    expect(foundIn(routine, { s: 'make test' })).toEqual(['error wrong_kind /extensionPoints/0/acceptedKinds']);
    expect(foundIn(routine, { t: 'make test' })).toEqual([]);
    expect(foundIn(point({ default: `${review}s`, acceptedKinds: ['routine'] }))).toEqual([
      'error wrong_kind /extensionPoints/0/default',
    ]);
    expect(foundIn(point({ default: 'make test', acceptedKinds: ['routine', 'text'] }))).toEqual([]);
    expect(foundIn(point({ default: 'team.review', acceptedKinds: ['workflow'] }))).toEqual([]);
    expect(foundIn(point({ default: 'make test', acceptedKinds: ['workflow'] }))).toEqual([
      'error wrong_kind /extensionPoints/0/default',
    ]);
    expect(foundIn(point({ acceptedKinds: ['rutine'] }))).toEqual([
      'error wrong_value /extensionPoints/0/acceptedKinds/0',
    ]);
  });
});
