import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import { idsIn, namesId } from '../../src/core/run/requirements/judge-artifact.ts';
import { compileValue, found } from '../compiler/compile-file.ts';
import { enforces } from '../enforces.ts';
import { type Engine, engine, withFile } from '../examples/engine.ts';

type Reply = Awaited<ReturnType<Engine['send']>>;

const REPORT = { contractRef: 'wr.contracts.verification_report' };
const WORK = {
  id: 'team.accounts',
  name: 'Accounts',
  description: 'Leaves nothing out.',
  version: '1.0.0',
  steps: [
    { id: 'agree', title: 'Agree', prompt: 'Agree.', sets: ['criteria'], notesOptional: true },
    {
      id: 'review',
      title: 'Review',
      prompt: 'Review.',
      outputContract: { contractRef: 'wr.contracts.review_verdict' },
      collects: [{ list: 'findings', into: 'open', prefix: 'F' }],
    },
    {
      id: 'verify',
      title: 'Verify',
      prompt: 'Verify.',
      outputContract: REPORT,
      accountsFor: [
        { context: 'criteria', prefix: 'AC', in: 'checks' },
        { context: 'open', prefix: 'F', in: 'notes' },
      ],
    },
  ],
};
const CRITERIA = ['AC1: it starts', '**AC2** it stops'];
const check = (name: string) => ({ name, outcome: 'pass' });
const report = (...names: readonly string[]) => ({
  kind: 'wr.verification_report',
  checks: names.map(check),
  summary: 'Tried.',
});
const verdict = (...summaries: readonly string[]) => ({
  kind: 'wr.review_verdict',
  verdict: 'minor',
  confidence: 'high',
  findings: summaries.map((summary) => ({ severity: 'minor', summary, file: 'a.ts', line: 3 })),
  summary: 'Read.',
});

const made = () => engine({ listing: () => withFile(WORK) });
const kindOf = ({ structured }: Reply) => structured['kind'];
const messagesOf = ({ structured }: Reply) =>
  (structured['blockers'] as readonly JsonObject[]).map(({ message }) => message);
const offered = ({ structured }: Reply) =>
  (structured['nextCall'] as { readonly arguments: JsonObject }).arguments as {
    readonly output: { readonly notesMarkdown: string; readonly artifacts: readonly JsonObject[] };
    readonly context: JsonObject;
  };

async function atVerify(run: Engine, ...findings: readonly string[]): Promise<Reply> {
  const review = await run.send(await run.start('team.accounts'), { context: { criteria: CRITERIA } });
  return run.send(review, { artifacts: [verdict(...findings)] });
}

test('a block lists a wrong field, a missing id and a check that waits for the report at once', async () => {
  const checked = { ...WORK.steps[2], checks: [{ id: 'tests', run: 'npm test', minimum: 'reported' }] };
  const run = engine({ listing: () => withFile({ ...WORK, steps: [WORK.steps[0], checked] }) });
  const verify = await run.send(await run.start('team.accounts'), { context: { criteria: CRITERIA } });
  const entries = [check('tests'), { name: 'AC1', outcome: 'passed' }];
  const blocked = await run.send(verify, { artifacts: [{ ...report(), checks: entries }] });
  expect(messagesOf(blocked)).toEqual([
    expect.stringMatching(/outcome is "passed".* Incomplete: "checks" does not account for AC2\./),
    'The check "tests" counts as reported once wr.verification_report is accepted. Your entry for it needs no change.',
  ]);
});

test('a form that offers a list has no line about a missing list, also where the rule looks at the entries', async () => {
  const missing = { var: 'criteria', equals: null };
  const misnamed = { not: { var: 'criteria.0', startsWith: 'AC' } };
  const rule = {
    type: 'regex',
    pattern: 'No criteria in context, because .+',
    message: 'The criteria in context, or why there are none',
    form: 'No criteria in context, because <fill: why>',
    condition: { or: [missing, { and: [{ not: missing }, misnamed] }] },
  };
  const [agree, ...others] = WORK.steps;
  const steps = [{ ...agree, notesOptional: false, validationCriteria: [rule] }, ...others];
  const run = engine({ listing: () => withFile({ ...WORK, steps }) });
  const begun = await run.start('team.accounts');
  expect(offered(begun).context).toEqual({ criteria: ['<fill: AC1: the text of the entry>'] });
  expect(offered(begun).output.notesMarkdown).not.toContain('No criteria in context');
  const blocked = await run.send(begun, { notes: 'Agreed.', context: { criteria: ['it starts'] } });
  expect(kindOf(blocked)).toBe('blocked');
  expect(kindOf(await run.send(blocked, { notes: 'Agreed.', context: { criteria: CRITERIA } }))).toBe('ok');
});

describe('a step that accounts for a list', () => {
  test('offers an entry for each id, and blocks with the ids that an artifact leaves out', async () => {
    enforces('accounts_are_complete');
    const run = made();
    const verify = await atVerify(run);
    expect(offered(verify).output.artifacts).toMatchObject([{ checks: [{ name: 'AC1' }, { name: 'AC2' }] }]);
    const blocked = await run.send(verify, { artifacts: [report('AC1 starts', 'AC20')] });
    expect(messagesOf(blocked)).toEqual([
      'Incomplete: "checks" does not account for AC2. For each missing id, add an entry that names it and says what became of it.',
    ]);
    expect(offered(blocked).output.artifacts).toMatchObject([
      { checks: [check('AC1 starts'), check('AC20'), { name: 'AC2', outcome: '<fill: pass | fail | skipped>' }] },
    ]);
    expect(kindOf(await run.send(blocked, { artifacts: [report('AC1', 'ac2')] }))).toBe('ok');
  });

  test('blocks where the notes leave out what an earlier artifact found', async () => {
    enforces('accounts_are_complete', 'collected_items_get_ids');
    const run = made();
    const verify = await atVerify(run, 'An error is lost.', 'A name misleads.');
    expect(verify.text).toContain('In the notes, a line for each id in "open": F1, F2.');
    const artifacts = [report('AC1', 'AC2')];
    const blocked = await run.send(verify, { artifacts, notes: 'F1: fixed.' });
    expect(messagesOf(blocked)).toEqual(['The notes do not account for every id in "open". Missing: F2']);
    expect(offered(blocked).output.notesMarkdown).toBe('F1: fixed.\nF2: <fill: the result for it>');
    const done = await run.send(blocked, { notes: 'F1: fixed. F2: struck, the name is used elsewhere.' });
    expect(done.structured['isComplete']).toBe(true);
    const context = run.events.flatMap((event) => (event.kind === 'context_set' ? [event.data.context] : []));
    expect(context.at(-1)).toEqual({
      open: ['F1: minor a.ts:3 An error is lost.', 'F2: minor a.ts:3 A name misleads.'],
    });
  });

  test('offers an id in a field that takes any words, never in front of listed values', async () => {
    const last = {
      id: 'report',
      title: 'Report',
      prompt: 'Report.',
      outputContract: { contractRef: 'wr.contracts.incident_report' },
      accountsFor: [{ context: 'actions', prefix: 'R', in: 'actions' }],
    };
    const steps = [{ ...WORK.steps[0], sets: ['actions'] }, last];
    const run = engine({ listing: () => withFile({ ...WORK, steps }) });
    const report = await run.send(await run.start('team.accounts'), { context: { actions: ['R1: no default'] } });
    expect(offered(report).output.artifacts).toMatchObject([
      { actions: [{ action: '<fill: R1: what will be done>', kind: '<fill: prevent | detect | mitigate | learn>' }] },
    ]);
  });

  test('asks for nothing where the list is empty', async () => {
    const run = made();
    const review = await run.send(await run.start('team.accounts'), { context: { criteria: ['AC1: it starts'] } });
    const verify = await run.send(review, { artifacts: [verdict()] });
    expect((await run.send(verify, { artifacts: [report('AC1')] })).structured['isComplete']).toBe(true);
  });

  test.each([
    ['missing', {}],
    ['a text', { criteria: 'AC1: it starts' }],
    ['empty', { criteria: [] }],
    ['without an id', { criteria: ['AC1: it starts', 'it stops'] }],
    ['numbered twice', { criteria: ['AC1: it starts', 'AC1: it stops'] }],
  ])('a step that sets the list blocks while it is %s', async (_, context) => {
    enforces('accounts_are_complete');
    const run = made();
    const blocked = await run.send(await run.start('team.accounts'), { context });
    expect(kindOf(blocked)).toBe('blocked');
    expect(offered(blocked).context).toEqual({ criteria: ['<fill: AC1: the text of the entry>'] });
  });

  test('never-stop continues with a gap for each list', async () => {
    const run = made();
    const start = await run.start('team.accounts', { mode: 'full_auto_never_stop' });
    const review = await run.send(start, { context: { criteria: CRITERIA } });
    const verify = await run.send(review, { artifacts: [verdict('An error is lost.')] });
    const done = await run.send(verify, { artifacts: [report('AC1')] });
    expect(done.structured['isComplete']).toBe(true);
    expect(done.structured['gaps']).toHaveLength(2);
  });
});

test('a list that the artifact of the step does not have is an error', () => {
  const first = WORK.steps[1];
  const wrong = { ...WORK, steps: [{ ...first, collects: [{ list: 'finding', into: 'open', prefix: 'F' }] }] };
  expect(found(compileValue(wrong))).toEqual(['error wrong_value /steps/0/collects/0/list']);
  const small = { ...WORK, steps: [{ ...first, collects: [{ list: 'findings', into: 'open', prefix: 'f' }] }] };
  expect(found(compileValue(small))).toEqual(['error wrong_value /steps/0/collects/0/prefix']);
});

test('an id counts only as a word of its own, in text of any script', () => {
  // One pattern for all scripts; the code avoids it where the characters around an id are plain.
  const named = (text: string) => /(?<![\p{L}\p{N}_])AC1(?![\p{L}\p{N}_])/iu.test(text);
  const listed = (text: string) => /^[\s*_`"'([-]*(AC\d{1,4})(?![\p{L}\p{N}_])/iu.exec(text)?.[1]?.toUpperCase();
  const pieces = [
    'AC1',
    'ac1',
    'AC',
    '1',
    '23',
    ' ',
    '-',
    '_',
    '*',
    '(',
    'x',
    'ß',
    '名',
    '𝒳',
    '\ud835',
    '\udcb3',
    '½',
    '😀',
  ];
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((all) => all.join(''));
  fc.assert(
    fc.property(texts, (text) => {
      expect(namesId(text, 'AC1')).toBe(named(text));
      const id = listed(text);
      expect(idsIn([text], 'AC')).toEqual(id === undefined ? [] : [id]);
    }),
    { numRuns: 5_000 },
  );
});
