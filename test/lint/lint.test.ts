import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { re2Patterns } from '../../src/adapters/patterns.ts';
import { DIAGNOSTIC_CODES } from '../../src/core/workflow/diagnostics/diagnostic.ts';
import { LINT_CODES } from '../../src/core/workflow/lint/lint-rule.ts';
import { LINT_RULES, lintWorkflow } from '../../src/core/workflow/lint/lint-workflow.ts';
import { onBench } from '../bench/run-bench.ts';
import { compiled, compileText } from '../compiler/compile-file.ts';
import { FIX_EXAMPLES, PLACED_FIX_EXAMPLE } from './fix-examples.ts';
import { fixedText } from './fixed-text.ts';
import { RULE_EXAMPLES } from './rule-examples.ts';

const written = (file: object) => JSON.stringify(file, null, 2);
const lint = (file: object, kind: 'workflow' | 'routine' = 'workflow') =>
  lintWorkflow(written(file), { kind, workflow: compiled(compileText(written(file))) }, re2Patterns());
const codes = (file: object) => lint(file).map(({ code }) => code);

describe('rules of quality', () => {
  it('lint codes differ from compiler codes', () => {
    expect(LINT_RULES.map(({ code }) => code)).toEqual(LINT_CODES);
    expect(LINT_CODES.filter((code) => (DIAGNOSTIC_CODES as readonly string[]).includes(code))).toEqual([]);
  });

  it.each(LINT_CODES)('%s: the rule finds its failing example and nothing in the corrected one', (code) => {
    const { failing, passing } = RULE_EXAMPLES[code];
    expect([codes(failing), codes(passing)]).toEqual([[code], []]);
  });

  it('the page of a lint rule shows what it finds and what it does not', () => {
    const page = readFileSync('docs/reference/lint.md', 'utf8');
    const shown = LINT_CODES.map((code) => {
      const section = page.split(`\n### ${code}\n`)[1]?.split('\n#')[0] ?? '';
      const examples = [...section.matchAll(/```json\n([\s\S]*?)\n```/g)];
      return [code, ...examples.map(([, json = '']) => codes(JSON.parse(json)))];
    });
    expect(shown).toEqual(LINT_CODES.map((code) => [code, [code], []]));
  });

  it.each([
    ['bundled', 'error'],
    ['project', 'warning'],
  ])('criteria that the unfilled form meets are, in a %s workflow, an %s', (sourceKind, severity) => {
    const text = written(RULE_EXAMPLES.sample_passes.failing);
    const workflow = compiled(compileText(text));
    const found = lintWorkflow(text, { kind: 'workflow', workflow, sourceKind }, re2Patterns());
    expect(found.map(({ code, pointer, severity: own }) => [code, pointer, own])).toEqual([
      ['sample_passes', '/steps/0/validationCriteria', severity],
    ]);
  });

  it('one rule that needs what is filled in is enough, and criteria beside a contract are not looked at', () => {
    const loose = { type: 'contains', value: 'Size:', message: 'A size', form: 'Size: <fill: which>' };
    const strict = { type: 'regex', pattern: 'Cause: \\S', message: 'A cause', form: 'Cause: <fill: what>' };
    const file = (fields: object) => ({
      ...RULE_EXAMPLES.missing_about.passing,
      steps: [{ id: 'a', title: 'A', prompt: 'P.', ...fields }],
    });
    const outputContract = { contractRef: 'wr.contracts.verification_report' };
    expect(codes(file({ validationCriteria: [loose] }))).toEqual(['sample_passes']);
    expect(codes(file({ validationCriteria: [loose, strict] }))).toEqual([]);
    expect(codes(file({ validationCriteria: [loose], outputContract }))).toEqual([]);
  });

  it('a condition that only its own step, a later step or the body of its loop can make true is reported', () => {
    const said = (id: string, rest: object = {}) => ({
      id,
      title: id,
      prompt: `Send context size: small or large.`,
      ...rest,
    });
    const plain = (id: string, rest: object = {}) => ({ ...said(id, rest), prompt: 'Do it.' });
    const is = (equals: string) => ({ var: 'size', equals });
    const loop = (rest: object, body: readonly object[]) => ({
      id: 'loop',
      type: 'loop',
      title: 'L',
      loop: { maxIterations: 3, ...rest },
      body,
    });
    const foundIn = (...steps: readonly object[]) =>
      lint({ ...RULE_EXAMPLES.missing_about.passing, steps })
        .filter(({ code }) => code === 'context_set_later')
        .map(({ pointer }) => pointer);
    expect(foundIn(plain('a', { runCondition: is('large') }), said('b'))).toEqual(['/steps/0/runCondition']);
    expect(foundIn(said('a', { runCondition: is('large') }))).toEqual(['/steps/0/runCondition']);
    expect(foundIn(loop({ type: 'while', condition: is('large') }, [said('a')]))).toEqual(['/steps/0/loop/condition']);
    expect(foundIn(loop({ type: 'for', count: 'size' }, [said('a')]))).toEqual(['/steps/0/loop/count']);

    expect(foundIn(said('a'), plain('b', { runCondition: is('large') }))).toEqual([]);
    expect(foundIn(plain('a', { sets: ['size'] }), plain('b', { runCondition: is('large') }))).toEqual([]);
    expect(foundIn(plain('a', { runCondition: { not: is('large') } }), said('b'))).toEqual([]);
    expect(foundIn(loop({ type: 'until', condition: is('large') }, [said('a')]))).toEqual([]);
    const later = [plain('a', { runCondition: is('large') }), said('b')];
    expect(foundIn(loop({ type: 'for', count: 2 }, later))).toEqual([]);
  });

  it('lint findings point at their place', () => {
    const [found] = lint(RULE_EXAMPLES.vague_opt_out.failing);
    const text = written(RULE_EXAMPLES.vague_opt_out.failing);
    const { span = { offset: 0, length: 0 }, line, pointer } = found ?? {};
    expect([text.slice(span.offset, span.offset + span.length), line, pointer]).toEqual([
      'if necessary',
      13,
      '/steps/0/prompt',
    ]);
  });

  it.each([
    ['Look at it.\nAsk me for the log.', {}, true],
    ['If it is unclear, ask the user.', {}, true],
    ['Do not ask the user; look it up.', {}, false],
    ["Don't ask the user.", {}, false],
    ['If you ask the user, be brief.', {}, false],
    ['Ask what the old code did.', {}, false],
    ['Ask the user.', { requireConfirmation: false }, true],
    ['Ask the user.', { requireConfirmation: true }, false],
  ])('the rule recognises a request to ask the user in "%s" %j', (prompt, fields, isAsking) => {
    const steps = [{ id: 'a', title: 'A', prompt, ...fields }];
    expect(codes({ ...RULE_EXAMPLES.missing_about.passing, steps })).toEqual(isAsking ? ['asks_the_user'] : []);
  });

  it('lint rules do not ask a routine for what only callers know', () => {
    const { failing } = RULE_EXAMPLES.context_never_set;
    expect(lint(failing, 'routine').map(({ code }) => code)).toEqual([]);
    expect(lint(RULE_EXAMPLES.missing_examples.failing, 'routine')).toEqual([]);
  });

  it.each([
    ['contains', { type: 'contains', value: '- [x] reviewed', message: 'm' }, true],
    ['regex', { type: 'regex', pattern: 'status:\\s*done', message: 'm' }, true],
    ['a heading', { type: 'contains', value: '## Risks', message: 'm' }, false],
    ['a number', { type: 'regex', pattern: '\\d+ tests', message: 'm' }, false],
    ['a length', { type: 'length', min: 200, message: 'm' }, false],
  ])('take %s for what it is', (_, rule, isFlag) => {
    const file = {
      ...RULE_EXAMPLES.missing_about.passing,
      steps: [{ id: 'a', title: 'A', prompt: 'P.', validationCriteria: [rule] }],
    };
    expect(codes(file)).toEqual(isFlag ? ['flag_only_validation'] : []);
  });
});

describe('fixes', () => {
  it.each(Object.keys(FIX_EXAMPLES))(
    '%s: the fix corrects the example and changes nothing else in the file',
    (code) => {
      const text = written(FIX_EXAMPLES[code]?.failing ?? {});
      const before = compileText(text).diagnostics.filter((one) => one.code === code);
      expect(before).toMatchObject([{ code, fix: expect.any(Object) }]);
      const fixed = fixedText(text, (one) => compileText(one).diagnostics);
      expect(compileText(fixed).diagnostics.filter((one) => one.code === code)).toEqual([]);
      const changed = fixed.split('\n').filter((line) => !text.split('\n').includes(line));
      expect(changed.length).toBeLessThanOrEqual(2);
    },
  );

  it('are offered for nothing that only the author can decide', () => {
    const twice = {
      ...RULE_EXAMPLES.missing_about.passing,
      steps: [{ id: 'a', title: 'A', prompt: 'P.', runCondition: { var: 'n', gt: 1, lt: 9 } }],
    };
    const text = written(twice);
    expect(compileText(text).diagnostics).toMatchObject([{ code: 'two_operators' }]);
    expect(fixedText(text, (one) => compileText(one).diagnostics)).toBe(text);
  });

  it('of an id goes by where the file lies', async () => {
    const { code, failing, passing } = PLACED_FIX_EXAMPLE;
    const file = '.workrail/workflows/review.json';
    const { run, text } = onBench({ [file]: failing });
    expect((await run('check', file)).out).toContain(`error  ${code}\n`);
    expect((await run('check', file, '--fix')).exitCode).toBe(0);
    expect(JSON.parse(text(file) ?? '')).toEqual(passing);
  });
});
