import type { JsonObject } from '../../src/core/json/json-value.ts';

/** A workflow for thousands of steps, with what an agent sends for each. */
export type WalkedWorkflow = {
  readonly name: 'plain' | 'real';
  readonly source: JsonObject;
  readonly start: JsonObject;
  /** The arguments of the call that reports a step, without its token. */
  readonly report: (stepId: string, count: number) => JsonObject;
};

const NOTE = words('looked at the parser and found that it reads the whole file before the first line is checked', 110);

/** A loop of ten short steps that need only notes. */
const plain: WalkedWorkflow = {
  name: 'plain',
  source: {
    id: 'bench.plain',
    name: 'Plain',
    description: 'Short steps that ask for notes.',
    steps: [
      loop('rounds', { type: 'for', count: 5_000, maxIterations: 5_000 }, [
        ...Array.from({ length: 10 }, (_, i) => ({
          id: `step-${i}`,
          title: `Step ${i}`,
          prompt: words(`Do part ${i} of the work and write down what you find.`, 90),
        })),
      ]),
    ],
  },
  start: { workflowId: 'bench.plain', goal: 'Make the parser faster' },
  report: (_, count) => ({ output: { notesMarkdown: `${NOTE} (${count})` } }),
};

const AREAS = ['src/parser', 'src/lexer', 'src/printer'];

/** A realistic workflow: nested loops, conditions, contracts, assessments, criteria, values in prompts. */
const real: WalkedWorkflow = {
  name: 'real',
  source: {
    id: 'bench.real',
    name: 'Improve a module step by step',
    description: 'Surveys, changes and checks a module, round after round, until nothing is left to do.',
    agentRole: words('You are a careful engineer who measures before changing anything.', 60),
    metaGuidance: [words('Change one thing at a time and keep the tests green.', 20), 'Write down every surprise.'],
    references: [{ id: 'style', title: 'Style', source: 'STYLE.md', purpose: 'how to write', authoritative: true }],
    functionDefinitions: [{ name: 'measure', definition: words('Run the bench three times and take the median.', 60) }],
    conditions: [{ id: 'is-deep', kind: 'context', var: 'depth', equals: 'deep' }],
    assessments: [
      {
        id: 'readiness',
        purpose: 'whether the change can go out',
        dimensions: ['tests', 'docs'].map((id) => ({ id, purpose: `what the ${id} show`, levels: ['low', 'high'] })),
      },
    ],
    steps: [
      { id: 'prepare', title: 'Prepare', prompt: words('Read {{goal}} and set the scene for {{team.name}}.', 120) },
      loop('improve', { type: 'while', maxIterations: 5_000 }, [
        {
          id: 'survey',
          title: 'Survey the module',
          prompt: words('Survey {{module}} in round {{currentIteration}} for {{goal}}; keep to {{brief}}.', 220),
          guidance: [words('Prefer what was measured to what is believed.', 25)],
          promptFragments: [
            { id: 'deep', when: { var: 'depth', equals: 'deep' }, text: words('Look at callers, too.', 60) },
          ],
          functionReferences: ['measure()'],
          validationCriteria: {
            and: [
              { type: 'contains', value: 'parser', message: 'Name the parser.' },
              { type: 'regex', pattern: 'lines? is checked', message: 'Say what is checked.' },
              { type: 'length', min: 40, message: 'Write a sentence or two.' },
            ],
          },
        },
        {
          id: 'deepen',
          title: 'Look deeper',
          runCondition: { kind: 'condition_ref', conditionId: 'is-deep' },
          prompt: words('Look at what calls {{module}}.', 120),
        },
        {
          id: 'risky',
          title: 'Ask about risks',
          runCondition: { and: [{ var: 'risk', gt: 3 }, { not: { var: 'depth', equals: 'deep' } }] },
          prompt: 'Tell the user about the risk.',
        },
        loop('each-area', { type: 'forEach', items: 'areas', maxIterations: 20 }, [
          { id: 'look', title: 'Look at {{currentItem}}', prompt: words('Look at {{currentItem}} for {{goal}}.', 160) },
        ]),
        {
          id: 'verify',
          title: 'Verify',
          prompt: words('Run all checks and tell what they prove.', 120),
          outputContract: { contractRef: 'wr.contracts.verification_report' },
          assessmentRefs: ['readiness'],
        },
        {
          id: 'decide',
          title: 'Another round?',
          prompt: 'Decide whether another round is worth it.',
          notesOptional: true,
          outputContract: { contractRef: 'wr.contracts.loop_control' },
        },
      ]),
      { id: 'wrap-up', title: 'Wrap up', prompt: 'Write the summary.' },
    ],
  },
  start: {
    workflowId: 'bench.real',
    goal: 'Make the parser of the configuration files twice as fast without changing what it accepts',
    context: {
      module: 'src/parser',
      depth: 'shallow',
      risk: 2,
      areas: AREAS,
      team: { name: 'Platform', members: Array.from({ length: 8 }, (_, i) => ({ id: i, name: `Member ${i}` })) },
      brief: words('the interface stays as it is and so do the messages', 90),
      files: Array.from({ length: 60 }, (_, i) => `src/module-${i}/file-number-${i}.ts`),
      constraints: Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`rule-${i}`, words('keep it simple', 8)])),
    },
  },
  report: (stepId, count) => {
    const notesMarkdown = `${NOTE} (${count})`;
    switch (stepId) {
      case 'look':
        return { output: { notesMarkdown }, context: { lastArea: AREAS[count % 3] ?? '', seen: { count } } };
      case 'verify':
        return {
          output: {
            notesMarkdown,
            artifacts: [
              {
                kind: 'wr.verification_report',
                checks: [{ name: 'Unit tests', command: 'npm test', outcome: 'pass', evidence: `${count} passed` }],
                summary: 'Nothing was broken.',
              },
              {
                kind: 'wr.assessment',
                assessmentId: 'readiness',
                dimensions: { tests: { level: 'high', rationale: 'all green' }, docs: 'high' },
              },
            ],
          },
          context: { depth: Math.floor(count / 8) % 2 === 0 ? 'deep' : 'shallow', checked: count },
        };
      case 'decide':
        return { output: { artifacts: [{ kind: 'wr.loop_control', loopId: 'improve', decision: 'continue' }] } };
      default:
        return { output: { notesMarkdown } };
    }
  },
};

export const WALKED: readonly WalkedWorkflow[] = [plain, real];

/**
 * The same workflow under another name. Sessions of one workflow share snapshots, so the second session writes less;
 * under different names each session writes all of them.
 */
export function renamed(workflow: WalkedWorkflow, number: number): WalkedWorkflow {
  const workflowId = `bench.${workflow.name}-${number}`;
  return { ...workflow, source: { ...workflow.source, id: workflowId }, start: { ...workflow.start, workflowId } };
}

/** As many workflow files as a team has, each of realistic length. */
export function manyWorkflows(count: number): readonly JsonObject[] {
  return Array.from({ length: count }, (_, i) => ({
    ...real.source,
    id: `bench.number-${i}`,
    name: `Workflow ${i}`,
    tags: ['bench', `group-${i % 7}`],
  }));
}

function loop(id: string, settings: JsonObject, body: readonly JsonObject[]): JsonObject {
  return { id, title: id, type: 'loop', loop: settings, body };
}

/** A text of a number of words, beginning as given. */
function words(text: string, count: number): string {
  const known = text.split(' ');
  return Array.from({ length: count }, (_, i) => (i < known.length ? known[i] : `word${i % 23}`)).join(' ');
}
