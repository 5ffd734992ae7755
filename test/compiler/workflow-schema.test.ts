import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Schema, workflowSchema } from '../../scripts/generate/workflow-schema.ts';
import { KEYS } from '../../src/core/workflow/format/keys.ts';
import { OPERATORS } from './author-mistakes.ts';
import { BUNDLED, CORPUS, compileText, FIXTURES, fixture } from './compile-file.ts';
import type { Json } from './json-leaves.ts';
import { violations } from './validate.ts';

const SCHEMA = workflowSchema();
const parse = (text: string) => JSON.parse(text) as Json;

describe('the published schema of workflow files', () => {
  it.each([...BUNDLED, ...FIXTURES, ...CORPUS])('accepts $name', ({ text }) => {
    expect(violations(parse(text), SCHEMA)).toEqual([]);
  });

  it('is what lies in the repository', () => {
    expect(parse(readFileSync('schemas/workflow.schema.json', 'utf8'))).toEqual(SCHEMA);
  });

  it('knows just the keys that the compiler reads', () => {
    const sets = keySetsOf(SCHEMA);
    const head = KEYS.stepHead as readonly string[];
    const { stepHead: _, conditionRef: _ref, comparison: _comparison, ...objects } = KEYS;
    const inSteps = ['standardStep', 'designLoop', 'publishedLoop', 'publishedCall', 'parallelStep'];
    for (const [name, keys] of Object.entries(objects)) {
      const expected = inSteps.includes(name) ? [...head, ...keys] : keys;
      expect(sets, name).toContain([...expected].sort().join(' '));
    }
  });

  it('refuses most of what the compiler refuses, so that editors show it while it is written', () => {
    const mistakes = ['conditions', 'loops', 'templates'].flatMap((name) =>
      OPERATORS.flatMap(({ mistakes: of }) => of(parse(fixture(name)))),
    );
    const refused = mistakes.filter(({ text, code }) => code !== 'not_json' && compileText(text).kind === 'refused');
    const shown = refused.filter(({ text }) => violations(parse(text), SCHEMA).length > 0);
    expect(shown.length / refused.length).toBeGreaterThan(0.5);
  });
});

/** The keys of every object that the schema describes, in one order. */
function keySetsOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const inner = Object.values(schema).flatMap(keySetsOf);
  const { properties } = schema as Schema;
  return typeof properties === 'object' && properties !== null
    ? [Object.keys(properties).sort().join(' '), ...inner]
    : inner;
}
