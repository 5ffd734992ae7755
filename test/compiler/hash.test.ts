import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { parseCompiledWorkflow } from '../../src/core/workflow/compiled/compiled-workflow.ts';
import { enforces } from '../enforces.ts';
import { isLong, share } from '../volume.ts';
import { compiled, compileText, compileValue, FIXTURES, fixture, found, hashOf } from './compile-file.ts';
import { type Json, type Leaf, leavesOf, replaced } from './json-leaves.ts';

/** What is for people, tools or the future. Changing it must leave runs where they are. */
const INFORMATIONAL = [
  /^\/(about|version|modelTier|metricsProfile|validatedAgainstSpecVersion)$/,
  /^\/(examples|tags)\/\d+$/,
  /\/steps\/\d+\/(modelTier|askForFiles|hasValidation)$/,
  /\/extensionPoints\/\d+\/purpose$/,
  /\/schema\//,
];

/** Names whose change must go with a change elsewhere, and words of closed sets with no other valid word there. */
const BOUND = [
  /\/(conditionId|refId|contextKey|slotId)$/,
  /^\/(conditions|assessments)\/\d+\/id$/,
  /\/assessmentRefs\/\d+$/,
  /\/(anyEqualsLevel|forAssessment)$/,
  /\/levels\/0$/,
  /\/dimensions\/0\/levels\/\d$/,
  /\/functionReferences\/\d+$/,
  /\/functionDefinitions\/\d+\/name$/,
  /\/functionDefinitions\/\d+\/parameters\/\d+(\/name|\/enum\/\d+)?$/,
  /\/functionCalls\/\d+\/name$/,
  /\/acceptedKinds\/\d+$/,
  // Only one word makes the decision "stop" end the loop.
  /\/continueWhen$/,
  /\/(kind|type)$/,
  /\/body$/,
  /^\/steps\/4\/id$/,
  /\/templateId$/,
  /^\/features\/\d+(\/id)?$/,
  /\/conditionSource\/contractRef$/,
  // The only step of its loop that decides.
  /^\/steps\/1\/body\/0\/output\/contractRef$/,
  /^\/extensionPoints\/0\/default$/,
];

/** Other words of the closed sets. */
const CHOICES: { readonly [key: string]: readonly string[] } = {
  recommendedAutonomy: ['full_auto_never_stop'],
  recommendedRiskPolicy: ['balanced'],
  resolveFrom: ['workspace', 'package'],
  contractRef: ['wr.contracts.review_verdict', 'wr.contracts.findings'],
  reason: ['needs_user_artifact', 'needs_user_choice', 'needs_user_approval'],
  choiceKind: ['scope_boundary'],
  delegation: ['required', 'preferred'],
  web_browsing: ['required'],
  capability: ['delegation'],
  continueWhen: ['stop'],
  flags: ['i'],
  scope: ['step', 'loop', 'workflow'],
  version: ['2.0.0'],
  length: ['short'],
  lte: ['7'],
  refId: ['wr.refs.memory_usage'],
  templateId: ['wr.templates.routine.design-review', 'wr.templates.routine.tension-driven-design'],
  kind: ['text', 'always_true', 'always_false', 'human_approval', 'coordinator_eval', 'context_variable'],
  type: ['while', 'until', 'contains', 'length', 'loop'],
  pattern: ['other'],
  contextKey: ['other_key'],
};

/**
 * Of single fixtures: nobody sees the title of a template call, a decision step makes `until` and `while` alike, and
 * what stands with the workflow is seen by all of it whatever it says.
 */
const WITHOUT_EFFECT = [
  'templates.json/steps/1/title',
  'loops.json/steps/0/loop/type',
  'loops.json/steps/1/loop/type',
  'functions.json/functionDefinitions/0/scope',
];

const isOneOf = (patterns: readonly RegExp[], { pointer }: Leaf) => patterns.some((pattern) => pattern.test(pointer));

function changesOf({ path, value }: Leaf): readonly Json[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value + 1, value - 1];
  if (typeof value !== 'string') return ['other'];
  const key = path.at(-1) ?? '';
  return [...(CHOICES[key] ?? []), `${value} changed`, `${value}x`, `${value}_x`].filter((other) => other !== value);
}

const parse = (text: string) => JSON.parse(text) as Json;

describe('the hash of a workflow', () => {
  it.each(FIXTURES)('$name does not depend on whitespace, on the order of keys or of features', ({ text }) => {
    enforces('workflow_hash_definition', 'features_applied_lexically');
    const hash = hashOf(compileText(text));
    expect(hashOf(compileText(JSON.stringify(parse(text))))).toBe(hash);
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat()), (numbers) => {
        const shuffled = shuffle(parse(text), () => numbers.next().value);
        expect(hashOf(compileValue(shuffled))).toBe(hash);
      }),
      { numRuns: isLong ? 200 : 20 },
    );
  });

  it('the hash of a workflow changes with everything that a run uses, and with nothing else', () => {
    enforces('workflow_hash_definition', 'informational_fields_no_effect', 'functions_pinned');
    enforces('references_hashed_as_declared');
    const counts = { meaningful: 0, informational: 0, bound: 0 };
    const wrong: string[] = [];
    for (const { name, text } of FIXTURES) {
      const document = parse(text);
      const hash = hashOf(compileText(text));
      for (const leaf of share(leavesOf(document))) {
        const verdict = tried(document, leaf, hash);
        const isInformational = isOneOf(INFORMATIONAL, leaf) || WITHOUT_EFFECT.includes(`${name}${leaf.pointer}`);
        if (verdict === 'same' && isInformational && isSameWithout(document, leaf, hash)) counts.informational += 1;
        else if (verdict === 'changed' && !isInformational) counts.meaningful += 1;
        else if (verdict === 'invalid' && isOneOf(BOUND, leaf)) counts.bound += 1;
        else wrong.push(`${name}${leaf.pointer}: ${verdict}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(counts.meaningful).toBeGreaterThan(isLong ? 300 : 60);
    expect(counts.informational).toBeGreaterThan(isLong ? 15 : 0);
    console.info(`changes of single values: ${JSON.stringify(counts)}`);
  });

  it('informational fields are accepted with any value, without a remark and without effect', () => {
    enforces('informational_fields_no_effect');
    const document = parse(fixture('confirmations')) as Record<string, Json>;
    const plain = compileValue(document);
    const [step, ...steps] = document['steps'] as Record<string, Json>[];
    const values: readonly Json[] = ['high', 7, true, ['x'], { a: 1 }];
    const changed = values.flatMap((value) => [
      ...['modelTier', 'metricsProfile', 'validatedAgainstSpecVersion'].map((name) => ({ ...document, [name]: value })),
      ...['modelTier', 'askForFiles', 'hasValidation'].map((name) => ({
        ...document,
        steps: [{ ...step, [name]: value }, ...steps],
      })),
    ]);
    for (const one of changed) {
      const result = compileValue(one as Json);
      expect([found(result), hashOf(result)]).toEqual([found(plain), hashOf(plain)]);
    }
  });

  it('the hash of a workflow depends on the bindings of the workspace', () => {
    enforces('bindings_resolve_at_compile_time');
    const text = fixture('bindings');
    const plain = hashOf(compileText(text));
    expect(hashOf(compileText(text, { bindings: { product: 'the shop' } }))).not.toBe(plain);
    expect(hashOf(compileText(text, { bindings: { product: 'the product', other: 'x' } }))).toBe(plain);
  });

  it('the hash of a workflow does not depend on tokens, runs, times or places', () => {
    enforces('workflow_hash_excludes', 'workflow_hash_machine_independent');
    const keys = FIXTURES.flatMap(({ text }) => leavesOf(compiled(compileText(text)) as unknown as Json))
      .flatMap(({ path }) => path)
      .filter((key) => typeof key === 'string');
    expect(
      [...new Set(keys)].filter((key) => /token|sessionId|runId|nodeId|timestamp|^at$|workspace$/i.test(key)),
    ).toEqual([]);
  });

  it('the hash of a workflow does not depend on the language of the machine', () => {
    enforces('workflow_hash_machine_independent');
    const hashes = () => FIXTURES.map(({ name, text }) => [name, hashOf(compileText(text))]);
    const here = hashes();
    const there = [
      vi.spyOn(String.prototype, 'localeCompare').mockImplementation(function (this: string, other) {
        return String(this) < other ? 1 : -1;
      }),
      vi.spyOn(String.prototype, 'toLocaleLowerCase').mockReturnValue('elsewhere'),
      vi.spyOn(String.prototype, 'toLocaleUpperCase').mockReturnValue('ELSEWHERE'),
      vi.spyOn(Number.prototype, 'toLocaleString').mockReturnValue('1.000,5'),
    ];
    try {
      expect(hashes()).toEqual(here);
    } finally {
      for (const spy of there) spy.mockRestore();
    }
  });

  it('a compiled workflow of another version is refused', () => {
    enforces('compiled_snapshot_versioned');
    const workflow = compiled(compileText(fixture('nested')));
    expect(parseCompiledWorkflow(workflow)._unsafeUnwrap()).toBe(workflow);
    expect(parseCompiledWorkflow({ ...workflow, schemaVersion: 2 })._unsafeUnwrapErr()).toEqual({
      code: 'unknown_version',
      version: 2,
    });
  });

  it('the hash of a workflow depends on the steps of called templates', () => {
    const text = fixture('templates');
    const without = (subject: string) => hashOf(compileText(text.replace('slow tests', subject)));
    expect(without('slow tests')).not.toBe(without('fast tests'));
  });
});

function isSameWithout(document: Json, { path }: Leaf, hash: string): boolean {
  const result = compileValue(replaced(document, path, undefined));
  return result.kind === 'refused' || hashOf(result) === hash;
}

/** What one change of a value does; the first change that still compiles counts. */
function tried(document: Json, leaf: Leaf, hash: string): 'same' | 'changed' | 'invalid' {
  let isSame = false;
  for (const change of changesOf(leaf)) {
    const result = compileValue(replaced(document, leaf.path, change));
    if (result.kind === 'refused') continue;
    if (hashOf(result) !== hash) return 'changed';
    isSame = true;
  }
  return isSame ? 'same' : 'invalid';
}

/** The same document with its keys in another order everywhere, and its features too. */
function shuffle(value: Json, next: () => number): Json {
  if (Array.isArray(value)) return value.map((item: Json) => shuffle(item, next));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => {
    const shuffled = shuffle(inner, next);
    return [key, key === 'features' && Array.isArray(shuffled) ? reordered(shuffled, next) : shuffled];
  });
  return Object.fromEntries(reordered(entries, next));
}

function reordered<Item>(items: readonly Item[], next: () => number): Item[] {
  return items
    .map((item) => ({ item, rank: next() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
