import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { attemptAt, foundAt, NOTHING_FOUND, tryStep } from '../../../../test/examples/step-attempt.ts';
import { defined, type JsonObject } from '../../json/json-value.ts';
import { blockerReport } from '../../log/blockers.ts';
import { BLOCKER_FIX_BYTES_MAX, BLOCKER_MESSAGE_BYTES_MAX } from '../../log/budgets.ts';
import { REASONS } from '../../log/reasons.ts';
import { mergedForm } from '../../prompt/reply/footer.ts';
import { utf8Length } from '../../text/utf8.ts';

const WORK = '<fill: what you did, what you found, what is open>';
const at = { kind: 'workflow_step', stepId: 'work' };
const noNotes = {
  reason: 'contract_violation:missing_required_output',
  pointer: at,
  message: 'This step requires notes.',
  suggestedFix:
    'Send `output.notesMarkdown`: what you did in this step, the result, and what is still open. Write about this step only.',
  requirement: 'notes:work',
  form: { notesMarkdown: WORK },
};
const contains = (value: string, message = `Name the ${value}.`) => ({ type: 'contains', value, message });

describe('an attempt at a step', () => {
  it('an attempt at a step that has all it needs leaves nothing unmet', () => {
    expect(foundAt(tryStep({}, { notes: 'Read all of it.' }))).toEqual({ ...NOTHING_FOUND, met: ['notes:work'] });
    expect(foundAt(tryStep({ notesOptional: true }))).toEqual(NOTHING_FOUND);
  });

  it.each([undefined, '', ' \n\t '])('an attempt at a step without notes lacks them: %j', (notes) => {
    enforces('notes_required_rule', 'notes_missing_code');
    expect(foundAt(tryStep({}, notes === undefined ? {} : { notes }))).toEqual({
      ...NOTHING_FOUND,
      unmet: [noNotes],
    });
    expect(REASONS['contract_violation:missing_required_output'].blocker).toBe('MISSING_REQUIRED_OUTPUT');
  });

  it('an attempt whose notes do not meet the criteria gets a list of everything they lack', () => {
    enforces('validation_criteria_rules_closed');
    const step = { validationCriteria: [contains('risks'), contains('tests'), contains('files')] };
    const unmet = {
      reason: 'contract_violation:invalid_required_output',
      pointer: at,
      message:
        'Not met:\n(1) Name the risks (the notes must contain "risks")\n(2) Name the files (the notes must contain "files")',
      suggestedFix:
        'Send the complete notes in `output.notesMarkdown`; they replace the notes you sent. Report only work that you really did.',
      requirement: 'criteria:work',
      form: { notesMarkdown: 'The tests pass.\n<fill: Name the risks.>\n<fill: Name the files.>' },
    };
    expect(foundAt(tryStep(step, { notes: 'The tests pass.' }))).toEqual({
      ...NOTHING_FOUND,
      unmet: [unmet],
      met: ['notes:work'],
    });
    expect(foundAt(tryStep(step, { notes: 'Risks, tests, files.' }))).toEqual({
      ...NOTHING_FOUND,
      met: ['notes:work', 'criteria:work'],
    });
  });

  it('an attempt that lacks a choice the criteria ask for gets a blank for it in context, and keeps its notes', () => {
    const size = { var: 'size', in: ['large', 'small'] };
    const rule = { type: 'contains', value: 'no size', message: 'Send the size.', condition: { not: size } };
    const step = { validationCriteria: [contains('files'), rule] };
    const formOf = (given: object) => foundAt(tryStep(step, given)).unmet.map(({ form }) => form);
    expect(formOf({ notes: 'Two files.' })).toEqual([{ context: { size: '<fill: large | small>' } }]);
    expect(formOf({ notes: 'Nothing.' })).toEqual([
      { notesMarkdown: 'Nothing.\n<fill: Name the files.>', context: { size: '<fill: large | small>' } },
    ]);
    expect(formOf({ notes: 'Two files.', context: { size: 'small' } })).toEqual([]);
    expect(formOf({ notes: 'Two files, no size.' })).toEqual([]);
  });

  it('an attempt whose notes say why a value is missing is not asked for it again', () => {
    const rule = (key: string) => ({
      type: 'contains',
      value: `no ${key}`,
      message: `Send ${key}.`,
      condition: { var: key, equals: null },
    });
    const step = { validationCriteria: [rule('size'), rule('risk')] };
    const [unmet] = foundAt(tryStep(step, { notes: 'Done, no size.' })).unmet;
    expect(unmet?.form).toEqual({ context: { risk: '<fill: value of risk>' } });
  });

  it('an attempt that lacks a value the criteria ask for gets a blank that says what its loop or condition accepts', () => {
    const missing = {
      type: 'contains',
      value: 'no files',
      message: 'Send them.',
      condition: { var: 'files', equals: null },
    };
    const each = {
      id: 'each',
      type: 'loop',
      title: 'Each',
      loop: { type: 'forEach', items: 'files', maxIterations: 3 },
      body: [{ id: 'look', title: 'Look', prompt: 'Look.' }],
    };
    const work = { id: 'work', title: 'Work', prompt: 'List them.', validationCriteria: [missing] };
    const formOf = (steps: readonly object[], given: object) =>
      foundAt(attemptAt({ steps }, { notes: 'Listed.', ...given })).unmet.map(({ form }) => form);
    expect(formOf([work, each], {})).toEqual([{ context: { files: ['<fill: one currentItem per entry>'] } }]);
    expect(formOf([work, each], { context: { files: [] } })).toEqual([]);
    expect(formOf([work], {})).toEqual([{ context: { files: '<fill: value of files>' } }]);
    const conditions = [{ id: 'many', kind: 'context', var: 'files', gt: 4 }];
    const sort = {
      id: 'sort',
      title: 'Sort',
      prompt: 'Sort.',
      runCondition: { kind: 'condition_ref', conditionId: 'many' },
    };
    const counted = foundAt(attemptAt({ steps: [work, sort], conditions }, { notes: 'Listed.' }));
    expect(counted.unmet.map(({ form }) => form)).toEqual([{ context: { files: '<fill: number for files>' } }]);
    const few = {
      ...sort,
      runCondition: {
        not: {
          or: [
            { var: 'files', gte: 7 },
            { var: 'other', gt: 1 },
          ],
        },
      },
    };
    expect(formOf([work, few], {})).toEqual([{ context: { files: '<fill: number for files>' } }]);
    // Where a loop reads a part of it, a text would not do, so the notes have to say it.
    const parts = { ...each, loop: { ...each.loop, items: 'files.changed' } };
    expect(formOf([work, parts], {})).toEqual([{ notesMarkdown: 'Listed.\n<fill: Send them.>' }]);
  });

  it('an attempt at a step without notes lacks both notes and what they have to show, in one blocker', () => {
    enforces('requirements_reported_together');
    const { unmet } = foundAt(tryStep({ validationCriteria: [contains('risks')] }));
    const notesMarkdown = `${WORK}\n<fill: Name the risks.>`;
    expect(unmet).toEqual([
      { ...noNotes, form: { notesMarkdown } },
      {
        reason: 'contract_violation:missing_required_output',
        pointer: at,
        message: 'Not met: Name the risks (the notes must contain "risks")',
        suggestedFix: 'Write the missing parts in `output.notesMarkdown`. Report only work that you really did.',
        requirement: 'criteria:work',
        form: { notesMarkdown },
      },
    ]);
    const report = blockerReport(
      unmet.map(({ reason, pointer, message, suggestedFix }) => ({
        code: REASONS[reason].blocker,
        pointer,
        message,
        suggestedFix,
      })),
    );
    expect(report.map(({ code, message }) => ({ code, message }))).toEqual([
      { code: 'MISSING_REQUIRED_OUTPUT', message: unmet.map(({ message }) => message).join(' ') },
    ]);
  });

  it('an attempt at a step with optional notes still has to meet their criteria', () => {
    const step = { notesOptional: true, validationCriteria: [contains('risks')] };
    expect(foundAt(tryStep(step)).unmet.map(({ requirement, reason }) => [requirement, reason])).toEqual([
      ['criteria:work', 'contract_violation:missing_required_output'],
    ]);
  });

  it('an attempt at a step with a contract is not blocked by criteria', () => {
    enforces('contract_over_criteria');
    const step = {
      validationCriteria: [contains('risks')],
      outputContract: { contractRef: 'wr.contracts.differentiation_handoff' },
    };
    const artifacts = [{ kind: 'wr.differentiation_handoff' }];
    expect(foundAt(tryStep(step, { notes: 'No word of it.', artifacts }))).toEqual({
      ...NOTHING_FOUND,
      met: ['output_contract:wr.contracts.differentiation_handoff'],
    });
    const optional = { ...step, outputContract: { ...step.outputContract, required: false } };
    expect(foundAt(tryStep(optional)).unmet).toEqual([]);
  });

  it('an attempt gets all unmet requirements at once, of every kind', () => {
    enforces('requirements_reported_together');
    const step = {
      validationCriteria: [contains('risks')],
      assessmentRefs: ['risk'],
      requireConfirmation: { kind: 'human_approval' },
      userDependency: { reason: 'needs_user_artifact', contextKey: 'plan', prompt: 'Send the plan.' },
    };
    const dimensions = [{ id: 'harm', purpose: 'how bad', levels: ['none', 'some'] }];
    const around = {
      capabilities: { web_browsing: 'required' },
      assessments: [{ id: 'risk', purpose: 'Harm', dimensions }],
    };
    const { unmet } = foundAt(tryStep(step, { stepId: 'work' }, around));
    expect(unmet.map(({ requirement }) => requirement)).toEqual([
      'notes:work',
      'criteria:work',
      'assessment:risk',
      'capability:web_browsing',
      'user_dependency:plan',
      'approval:work',
    ]);
  });

  it("the words for an unmet requirement fit their budget, however long the author's text is", () => {
    const long = '€'.repeat(150);
    const rules = Array.from({ length: 40 }, (_, i) => contains(`${long}${i}`, `${long} ${i}`));
    const step = {
      validationCriteria: rules,
      userDependency: { reason: 'needs_user_secret_or_token', prompt: long.repeat(2) },
    };
    const { unmet } = foundAt(tryStep(step, { notes: 'x' }));
    expect(unmet).toHaveLength(2);
    for (const { message, suggestedFix } of unmet) {
      expect(utf8Length(message)).toBeLessThanOrEqual(BLOCKER_MESSAGE_BYTES_MAX);
      expect(utf8Length(suggestedFix)).toBeLessThanOrEqual(BLOCKER_FIX_BYTES_MAX);
    }
    expect(unmet[0]?.message).toMatch(/\nand 38 more$/);
    expect(unmet[0]?.suggestedFix).toMatch(/\n- and 38 more$/);
  });

  it('an attempt may send artifacts of unknown kinds, and the check names them', () => {
    enforces('unknown_artifact_kinds_stored');
    const artifacts = [{ kind: 'my.table' }, { rows: [] }, { kind: 'wr.findings' }, { kind: 'my.table', more: 1 }];
    expect(foundAt(tryStep({ notesOptional: true }, { artifacts }))).toEqual({
      ...NOTHING_FOUND,
      unknownKinds: ['my.table'],
      unreadable: [
        {
          artifactKind: undefined,
          message: 'An artifact was sent without "kind". It is stored but meets no requirement.',
        },
      ],
    });
  });
});

const kind = 'wr.workflow_divergence';
const free = { notesOptional: true };
const contractRef = 'wr.contracts.workflow_divergence';
const divergence = { reason: 'efficiency_skip', summary: 'Three files instead of ten; there are no more.' };

it('a divergence is recorded from every artifact that reports one, whether or not the step asks for it', () => {
  enforces('divergence_recorded_when_sent');
  const artifacts = [
    { kind, ...divergence },
    { kind, ...divergence, relatedStepId: 'survey' },
    { kind, ...divergence, relatedStepId: 'x'.repeat(300) },
  ];
  const divergences = [divergence, { ...divergence, relatedStepId: 'survey' }, divergence];
  expect(foundAt(tryStep(free, { artifacts }))).toEqual({ ...NOTHING_FOUND, divergences });
  expect(foundAt(tryStep({ outputContract: { contractRef } }, { artifacts }))).toEqual({
    ...NOTHING_FOUND,
    met: [`output_contract:${contractRef}`],
    divergences,
  });
});

it('an invalid divergence is reported, and blocks only a step that asks for one', () => {
  enforces('divergence_recorded_when_sent');
  const artifacts = [{ kind, ...divergence, reason: 'mood' }];
  const message =
    'The wr.workflow_divergence artifact was not accepted: /reason is "mood" (allowed: missing_user_context | capability_unavailable | efficiency_skip | safety_stop | policy_constraint).';
  expect(foundAt(tryStep(free, { artifacts }))).toEqual({
    ...NOTHING_FOUND,
    unreadable: [{ artifactKind: kind, message, corrected: expect.anything() }],
  });
  const asked = foundAt(tryStep({ outputContract: { contractRef } }, { artifacts }));
  expect(asked.unmet.map((unmet) => unmet.message)).toEqual([message]);
  expect(asked.unreadable).toEqual([]);
});

it('a divergence that only an older contract allows is not recorded', () => {
  const attempt = tryStep({ outputContract: { contractRef } }, { artifacts: [{ kind, reason: 'mood', summary: 'S' }] });
  const pinned = [...attempt.index.contracts.values()].map((contract) => ({ ...contract, schema: {} }));
  const index = { ...attempt.index, contracts: new Map(pinned.map((contract) => [contract.contractRef, contract])) };
  expect(foundAt({ ...attempt, index })).toEqual({ ...NOTHING_FOUND, met: [`output_contract:${contractRef}`] });
});

it('a refused report and a check that asks for it make one corrected report, with an entry for each check', () => {
  const step = {
    outputContract: { contractRef: 'wr.contracts.verification_report' },
    checks: [
      { id: 'tests', run: '{{testCommand}}', minimum: 'reported' },
      { id: 'types', run: 'npm run types', minimum: 'reported' },
    ],
  };
  const report = (...names: readonly string[]) => ({
    kind: 'wr.verification_report',
    checks: names.map((name) => ({ name, outcome: 'ok' })),
    summary: 'It works.',
  });
  const formOf = (artifact: JsonObject, context?: JsonObject) =>
    mergedForm(foundAt(tryStep(step, { notes: 'Ran it.', artifacts: [artifact], ...defined({ context }) })).unmet);
  const outcome = '<fill: pass | fail | skipped>';
  const corrected = (...names: readonly string[]) => ({
    ...report(),
    checks: names.map((name) => ({ name, outcome })),
  });
  const known = { testCommand: 'npm test' };
  expect(formOf(report('AC1', 'tests', 'types'), known)).toEqual({ artifacts: [corrected('AC1', 'tests', 'types')] });
  expect(formOf(report('AC1'), known)).toEqual({ artifacts: [corrected('AC1', 'tests', 'types')] });
  // The command of a check needs a value that nobody sent yet.
  expect(formOf(report('AC1'))).toEqual({
    artifacts: [corrected('AC1', 'tests', 'types')],
    context: { testCommand: '<fill: the command line to run>' },
  });
});
