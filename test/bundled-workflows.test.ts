import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { re2Patterns } from '../src/adapters/patterns.ts';
import { nodeFolderAccess } from '../src/adapters/sources/read-folder.ts';
import { workflowFiles } from '../src/adapters/sources/workflow-files.ts';
import { workflowCatalog } from '../src/app/catalog/workflow-catalog.ts';
import { filledLines, fillForm } from '../src/core/author/fill-form.ts';
import { defined, type JsonObject, type JsonValue } from '../src/core/json/json-value.ts';
import { PRESETS } from '../src/core/log/autonomy.ts';
import { valueFiller } from '../src/core/prompt/step/fill-values.ts';
import { delegationText } from '../src/core/prompt/step/prompt-fragments.ts';
import { evaluateCriteria } from '../src/core/run/condition/evaluate-criteria.ts';
import { notesForm, withoutBlanks } from '../src/core/run/form/blank.ts';
import type { OfferedForm } from '../src/core/run/form/unfilled.ts';
import { chosenFacts, criteriaBullets, formLines } from '../src/core/run/requirements/describe-criteria.ts';
import { utf8Length } from '../src/core/text/utf8.ts';
import type { CompiledStep } from '../src/core/workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../src/core/workflow/compiled/compiled-workflow.ts';
import { criteriaRules } from '../src/core/workflow/compiled/criteria.ts';
import { indexWorkflow } from '../src/core/workflow/compiled/workflow-index.ts';
import { listeningTools } from './catalog/catalog-of.ts';
import { BUNDLED, compiled, compileText } from './compiler/compile-file.ts';
import { enforces } from './enforces.ts';
import { memoryWorld } from './simulation/agent/world/memory-world.ts';

const FILES = readdirSync('workflows', { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.json') && !name.endsWith('.test.json'),
);
const LIBRARY = BUNDLED.map(({ name, text }) => ({
  name,
  source: JSON.parse(text) as { readonly [key: string]: JsonValue },
  workflow: compiled(compileText(text, { isBundled: true })),
}));
/** The first one that anybody tries shows how a run goes, and nothing else. */
const FIRST = 'wr.first_steps.json';
const WORKFLOWS = LIBRARY.filter(({ name }) => !name.startsWith('wr.routine-') && name !== FIRST);

it('every bundled file compiles without a warning, under an id of our own that is also its file name', async () => {
  enforces('bundled_workflows_in_wr');
  const source = workflowFiles({ bundled: resolve('workflows'), user: resolve('nowhere') }, nodeFolderAccess);
  const { workflows, invalid } = await workflowCatalog(source, listeningTools()).list();
  expect(
    invalid.flatMap(({ file, diagnostics }) => diagnostics.map(({ message }) => `${file.ref}: ${message}`)),
  ).toEqual([]);
  expect(workflows.flatMap(({ warnings }) => warnings)).toEqual([]);
  expect(workflows.map(({ id, kind }) => (kind === 'routine' ? `routines/${id}.json` : `${id}.json`)).sort()).toEqual(
    [...FILES].sort(),
  );
  expect(workflows.map(({ id }) => id).filter((id) => !id.startsWith('wr.'))).toEqual([]);
});

describe.each(WORKFLOWS)('$name', ({ name, source, workflow }) => {
  it('the workflow says what it is for and has scenarios beside it', () => {
    const { about, examples, tags, version, recommendedPreferences } = source;
    expect(about).toMatch(/\*\*Small\*\*[\s\S]*\bNot for\b/);
    expect([examples, tags, version, recommendedPreferences]).not.toContain(undefined);
    expect(existsSync(`workflows/${name.replace(/\.json$/, '.test.json')}`)).toBe(true);
  });

  it('every prompt of the workflow is short', () => {
    const bytes = workflow.steps.map(({ prompt }) => utf8Length(prompt)).sort((a, b) => a - b);
    expect(bytes[Math.floor(bytes.length / 2)]).toBeLessThanOrEqual(1350);
    expect(bytes.at(-1)).toBeLessThanOrEqual(3500);
  });

  it('each step says what to send, when it is done, and what to do if it cannot be done', () => {
    const own = workflow.steps.filter(
      ({ provenance, purpose }) => provenance.source === 'authored' && purpose.kind === 'work',
    );
    const silent = own.flatMap(({ stepId, prompt }) =>
      [/\b(Give me|[Hh]and in|[Ss]end)\b/, /\bDone when\b|^## Verify$/m, /\bIf\b/].flatMap((answer) =>
        answer.test(prompt) ? [] : [`${stepId}: ${answer.source}`],
      ),
    );
    expect(silent).toEqual([]);
  });

  it('the workflow asks for contracts, and for prose only where no contract covers it', () => {
    enforces('outputs_prefer_contracts');
    const result = workflow.steps.findLast(({ runCondition }) => runCondition === undefined);
    expect(result?.output, 'the last step that every run comes to').toMatchObject({ isRequired: true });
    const withCriteria = workflow.steps.filter(({ criteria }) => criteria !== undefined);
    // Beside a contract criteria are not held, so they would only look strict.
    expect(withCriteria.filter(({ output }) => output !== undefined).map(({ stepId }) => stepId)).toEqual([]);
    const asked = JSON.stringify(withCriteria.map(({ criteria }) => criteria));
    expect(asked).not.toMatch(/\b(verdict|severity|outcome|decision|artifact|JSON)\b/i);
  });
});

describe('the criteria of the library', () => {
  const facts = { context: {}, loopVariables: {}, compilePattern: re2Patterns() };
  const asked = LIBRARY.flatMap(({ name, workflow }) =>
    workflow.steps.flatMap(({ stepId, criteria }) =>
      criteria === undefined ? [] : [{ name, workflow, stepId, criteria }],
    ),
  );
  const own = asked.flatMap(({ name, workflow, stepId, criteria }) =>
    criteriaRules(criteria).flatMap((rule) =>
      rule.kind === 'length' ? [] : [{ at: `${name} ${stepId}`, conditions: indexWorkflow(workflow).conditions, rule }],
    ),
  );
  const isMet = ({ rule, conditions }: (typeof own)[number], notes: string) =>
    evaluateCriteria({ ...rule, when: undefined }, notes, { ...facts, conditions }).length === 0;

  it('every rule about text has a line to fill in', () => {
    expect(own.length).toBeGreaterThan(130);
    expect(own.filter(({ rule }) => rule.form === undefined).map(({ at }) => at)).toEqual([]);
  });

  it('no rule is met by its own line without what is filled in', () => {
    const met = own.filter((one) => isMet(one, withoutBlanks(one.rule.form ?? '')));
    expect(met.map(({ at, rule }) => `${at}: ${rule.form}`)).toEqual([]);
  });

  it('every rule is met by its own line once its blanks are filled in', () => {
    const unmet = own.filter((one) => !isMet(one, filledLines(one.rule.form ?? '')));
    expect(unmet.map(({ at, rule }) => `${at}: ${rule.form}`)).toEqual([]);
  });

  it('no step is passed with its whole form unfilled, and every step with texts of any length is passed with it filled in', () => {
    const wrong = asked.flatMap(({ name, workflow, stepId, criteria }) => {
      const index = indexWorkflow(workflow);
      const answered = chosenFacts({ index, facts, loopVariables: {} }, criteria);
      const inRounds = [answered, { ...answered, loopVariables: { currentIteration: 2 } }];
      return inRounds.flatMap((seen) => {
        const form = notesForm(['what you did'], formLines(criteria, seen));
        const isUnfilledEnough = evaluateCriteria(criteria, withoutBlanks(form), seen).length === 0;
        const lacking = evaluateCriteria(criteria, filledLines(form), seen).filter(
          (one) => one.kind !== 'missing' || one.rule.kind !== 'length',
        );
        const isNothingAsked = evaluateCriteria(criteria, '', seen).length === 0;
        return (isUnfilledEnough && !isNothingAsked) || lacking.length > 0 ? [`${name} ${stepId}: ${form}`] : [];
      });
    });
    expect(wrong).toEqual([]);
  });

  it('no message of a rule shows a regular expression', () => {
    const shown = asked.flatMap(({ workflow, criteria }) =>
      criteriaBullets(criteria, { ...facts, conditions: indexWorkflow(workflow).conditions }),
    );
    expect(shown.filter((text) => /must (?:not )?match|\\[bwWdsS]|\(\?[:a-z]/.test(text))).toEqual([]);
  });
});

/** What an agent writes that wants to be let through. */
const FLAGS = [
  'Done.',
  'Complete.',
  'done: true',
  'analysisComplete = true',
  'All checks pass.',
  'Everything was completed successfully, as asked.',
  'status: complete, verified: yes',
];

it('no criterion is met by merely claiming that the work is done', () => {
  enforces('evidence_not_flags');
  const facts = { context: {}, loopVariables: {}, compilePattern: re2Patterns() };
  const asked = LIBRARY.flatMap(({ name, workflow }) =>
    workflow.steps.flatMap(({ stepId, criteria }) =>
      criteria === undefined ? [] : [{ name, workflow, stepId, criteria }],
    ),
  );
  expect(asked.length).toBeGreaterThan(5);
  const passed = asked.flatMap(({ name, workflow, stepId, criteria }) => {
    const { conditions } = indexWorkflow(workflow);
    const met = FLAGS.filter((notes) => evaluateCriteria(criteria, notes, { ...facts, conditions }).length === 0);
    return met.map((notes) => `${name} ${stepId}: ${notes}`);
  });
  expect(passed).toEqual([]);
});

describe('steps that delegate', () => {
  it('a workflow has delegating steps exactly if it prefers delegation', () => {
    const preferring = LIBRARY.filter(({ workflow }) => workflow.capabilities.delegation === 'preferred');
    const delegating = LIBRARY.filter(({ workflow }) => delegations(workflow).length > 0);
    expect(preferring.length).toBeGreaterThan(1);
    expect(preferring.filter((one) => !delegating.includes(one)).map(({ name }) => name)).toEqual([]);
  });

  it.each(LIBRARY.flatMap(({ name, workflow }) => delegations(workflow).map((one) => ({ name, ...one }))))(
    'say how many subagents, all at once, with which tool, and how to do without: $name $stepId',
    ({ text }) => {
      enforces('delegation_text_explicit', 'lazy_delegation_fallback');
      expect(text).toMatch(/\b(one|two|three|four|five|six|[1-9])\b[^.]{0,40}\b(subagents?|tasks)\b/i);
      expect(text).toMatch(/\bin one (response|message)\b/);
      expect(text).toMatch(/\bown tool for subagents\b|\btool of your own for subagents\b/);
      expect(text).toMatch(/\bnot (call |with )?start_workflow\b|\bto call start_workflow\b/);
      expect(text).toMatch(/\b(If you (cannot|have no)|[Oo]therwise)\b[\s\S]*\byourself\b/);
    },
  );
});

/** What delegating steps say, without what the run itself adds to every step. */
function delegations(workflow: CompiledWorkflow): readonly { readonly stepId: string; readonly text: string }[] {
  return workflow.steps.flatMap((step) => {
    const isDelegating = step.purpose.kind === 'delegation' || /\bsubagent/i.test(step.prompt);
    return isDelegating ? [{ stepId: step.stepId, text: toldAt(workflow, step) }] : [];
  });
}

function toldAt(workflow: CompiledWorkflow, step: CompiledStep): string {
  const facts = { context: {}, preferences: PRESETS.guided, capabilities: {}, compilePattern: re2Patterns() };
  const place = { index: indexWorkflow(workflow), step, facts, loopVariables: {} };
  return [step.prompt, delegationText(place, valueFiller({ context: {}, loopVariables: {} }))].join('\n');
}

const NO_PROSE = new Set([
  'form',
  'id',
  'recommendedAutonomy',
  'pattern',
  'templateId',
  'contractRef',
  'refId',
  'source',
  'workflowId',
  'conditionId',
]);

describe('the texts of the library', () => {
  it('no sentence of the library appears in three files', () => {
    const files = new Map<string, Set<string>>();
    for (const { name, source } of LIBRARY) {
      for (const sentence of textsIn(source).flatMap(sentencesOf)) {
        files.set(sentence, (files.get(sentence) ?? new Set()).add(name));
      }
    }
    expect(files.size).toBeGreaterThan(500);
    const shared = [...files].filter(([, names]) => names.size >= 3);
    expect(shared.map(([sentence, names]) => `${sentence} (${[...names].join(', ')})`)).toEqual([]);
  });

  it('no text of the library leaves a vague way out', () => {
    const vague = /\b(if|as|where|when) (appropriate|needed|possible|necessary|applicable|required)\b/i;
    const found = LIBRARY.flatMap(({ name, source }) =>
      textsIn(source).flatMap((text) => (vague.test(text) ? [`${name}: ${vague.exec(text)?.[0]}`] : [])),
    );
    expect(found).toEqual([]);
  });
});

function textsIn(value: JsonValue, key = ''): readonly string[] {
  if (typeof value === 'string') return NO_PROSE.has(key) ? [] : [value];
  if (Array.isArray(value)) return value.flatMap((one: JsonValue) => textsIn(one, key));
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, one]) => textsIn(one, name));
}

/** Long enough to be somebody's sentence; case, spaces and marks do not make another one of it. */
function sentencesOf(text: string): readonly string[] {
  const plain = text.split(/(?<=[.!?])\s+|\n+/).map((part) =>
    part
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
      .trim(),
  );
  return plain.filter((part) => part.length >= 25);
}

/** The offered arguments, filled in as an agent that does what it reads would. */
function filledArguments(given: { readonly output?: OfferedForm; readonly context?: JsonObject }): object {
  const { context, ...output } = fillForm({ ...given.output, ...defined({ context: given.context }) });
  return { ...given, output, ...defined({ context }) };
}

it('an agent that lost its chat reads at most 8,000 bytes to continue, at every step and after long notes', async () => {
  enforces('resume_strong_match_is_compact');
  const sized = { taskSize: 'large', riskLevel: 'high' };
  const found = 'What was found, file by file, and what is open. '.repeat(25);
  let most = { bytes: 0, at: '' };
  for (const workflowId of ['wr.coding_task', 'wr.bug_investigation']) {
    const world = memoryWorld([]);
    const chat = await world.newChat();
    let call = {
      tool: 'start_workflow',
      arguments: { workflowId, goal: 'Add a --json flag.' } as Record<string, unknown>,
    };
    for (let step = 0; step < 16; step++) {
      const { structuredContent = {} } = await chat.call(call);
      const reply = structuredContent as unknown as Resumable;
      const other = await world.newChat();
      const { sessionId } = reply.session;
      const back = await other.call({ tool: 'resume_session', arguments: { sessionId } });
      await other.close();
      const text = back.content.reduce((sum, { text: part = '' }) => sum + utf8Length(part), 0);
      const bytes = Math.max(text, utf8Length(JSON.stringify(back.structuredContent)));
      if (bytes > most.bytes) most = { bytes, at: `${workflowId} ${reply.pending?.stepId}` };
      const { output, context, ...rest } = filledArguments(reply.nextCall.arguments) as FilledCall;
      const notes = output.notesMarkdown === undefined ? {} : { notesMarkdown: `${output.notesMarkdown}\n${found}` };
      const more = step === 0 ? sized : {};
      call = {
        ...reply.nextCall,
        arguments: { ...rest, output: { ...output, ...notes }, context: { ...context, ...more } },
      };
    }
    await chat.close();
  }
  console.log(`recovery takes at most ${most.bytes} bytes (${most.at})`);
  expect(most.bytes).toBeGreaterThan(6_000);
  expect(most.bytes).toBeLessThanOrEqual(8_000);
});

type Resumable = {
  readonly session: { readonly sessionId: string };
  readonly pending: { readonly stepId: string } | null;
  readonly nextCall: { readonly tool: string; readonly arguments: Parameters<typeof filledArguments>[0] };
};
type FilledCall = { readonly output: { readonly notesMarkdown?: string }; readonly context?: JsonObject };
