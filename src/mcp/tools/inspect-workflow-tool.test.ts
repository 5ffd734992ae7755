import { describe, expect, it } from 'vitest';
import { fileWith, listeningTools, workflowText } from '../../../test/catalog/catalog-of.ts';
import { BUNDLED, CORPUS, FIXTURES } from '../../../test/compiler/compile-file.ts';
import { enforces } from '../../../test/enforces.ts';
import { memoryServices } from '../../../test/examples/memory-services.ts';
import { workflowCatalog } from '../../app/catalog/workflow-catalog.ts';
import type { WorkflowFile } from '../../app/ports/workflow-sources.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import { inspectReplyShape, listReplyShape } from '../reply-shapes.ts';
import { INSPECT_MODES, inspectWorkflowTool } from './inspect-workflow-tool.ts';
import { listWorkflowsTool } from './list-workflows-tool.ts';
import { startWorkflowTool } from './start-workflow-tool.ts';

const NOWHERE = { workspace: undefined };
const FILES = [
  ...[...FIXTURES, ...CORPUS].map(({ name, text }) => fileWith(text, { ref: name })),
  ...BUNDLED.map(({ name, text }) => fileWith(text, { ref: name, kind: 'bundled' })),
];

function servicesWith(files: readonly WorkflowFile[]) {
  const services = memoryServices();
  return { ...services, catalog: workflowCatalog({ files: async () => ({ files }) }, listeningTools()) };
}

/** Compiles every file once. */
const ofAll = servicesWith(FILES);

async function inspect(files: readonly WorkflowFile[], sent: { workflowId: string; mode?: string }) {
  return (await inspectWorkflowTool.run(servicesWith(files), sent, NOWHERE))._unsafeUnwrap();
}

const LOOPS = workflowText('team.loops', {
  preconditions: ['The tests run.'],
  metaGuidance: ['Small commits.'],
  references: [{ id: 'style', title: 'Style', source: 'docs/style.md', purpose: 'How we write.', authoritative: true }],
  steps: [
    { id: 'look', title: 'Look', prompt: 'Look around.' },
    {
      id: 'rounds',
      type: 'loop',
      title: 'Rounds',
      loop: { type: 'forEach', items: 'files', maxIterations: 5 },
      body: [
        { id: 'repair', title: 'Repair', prompt: 'Repair {{item}}.', runCondition: { var: 'size', equals: 'large' } },
      ],
    },
  ],
});

describe('a workflow before it is started', () => {
  it('inspect_workflow shows steps, loops, conditions and required outputs', async () => {
    enforces('inspect_workflow_shape');
    const { text } = await inspect([fileWith(LOOPS, { ref: 'team.loops.json' })], { workflowId: 'team.loops' });
    expect(text.replace(/sha256:\w+/, 'HASH')).toBe(
      [
        'team.loops: Name of team.loops. What it does.',
        '2 steps, 1 loop · from project team.loops.json · HASH',
        'Preconditions: The tests run.',
        'Rules for every step: Small commits.',
        'References: Style (docs/style.md) How we write.',
        '',
        '1. Look (look) · asks for notes',
        'Loop: Rounds (rounds) · once for each entry of "files" · at most 5 times',
        '   2. Repair (repair) · when size is "large" · asks for notes',
        '',
        'Start it with start_workflow {"workflowId":"team.loops"}',
      ].join('\n'),
    );
  });

  it('the texts say where a workflow comes from, what it overrides and needs, and what its conditions mean', async () => {
    const large = { id: 'is-large', kind: 'context', var: 'size', equals: 'large' };
    const text = workflowText('team.big', {
      conditions: [large],
      capabilities: { delegation: 'required', web_browsing: 'preferred' },
      recommendedPreferences: { recommendedAutonomy: 'guided' },
      steps: [
        {
          id: 'look',
          title: 'Look',
          prompt: 'Look.',
          runCondition: { kind: 'condition_ref', conditionId: 'is-large' },
        },
      ],
    });
    const files = [
      fileWith(text, { ref: 'workflows/team.big.json' }),
      fileWith(text, { ref: 'team.big.json', kind: 'user', rank: 1 }),
      ...BUNDLED.slice(0, 1).map((one) => fileWith(one.text, { ref: one.name, kind: 'bundled' })),
    ];
    const shown = await inspect(files, { workflowId: 'team.big', mode: 'metadata' });
    for (const line of [
      'from project workflows/team.big.json, overrides user team.big.json',
      'Recommended mode: guided',
      'The agent should be able to use:\n- delegation (required)\n- web browsing (preferred)',
      'Conditions: is-large: size is "large"',
    ]) {
      expect(shown.text).toContain(line);
    }
    expect(shown.structured).toMatchObject({
      workflow: { conditionTexts: [{ conditionId: 'is-large', when: 'size is "large"' }] },
    });
    const list = (await listWorkflowsTool.run(servicesWith(files), {}, NOWHERE))._unsafeUnwrap();
    expect(list.text).toContain(
      '(from project workflows/team.big.json, overrides user team.big.json; needs delegation)',
    );
    expect(list.text).toContain('A workflow without "(from …)" is bundled with WorkRail.');
  });

  it('list_workflows says that there are no workflows, instead of nothing', async () => {
    const list = (await listWorkflowsTool.run(servicesWith([]), {}, NOWHERE))._unsafeUnwrap();
    expect(list.text).toBe(
      'There are no workflows: those that belong to WorkRail are missing. Ask the user to install WorkRail again.',
    );
  });

  it('inspect_workflow of a project workflow suggests a start with the path of the project', async () => {
    const services = servicesWith([fileWith(LOOPS, { ref: 'team.loops.json' })]);
    const sent = { workflowId: 'team.loops', workspacePath: '/repo' };
    const { text, structured } = (
      await inspectWorkflowTool.run(services, sent, { workspace: '/repo' })
    )._unsafeUnwrap();
    expect(text).toMatch(/\nStart it with start_workflow {"workflowId":"team.loops","workspacePath":"\/repo"}$/);
    expect(structured['nextCall']).toEqual({ tool: 'start_workflow', arguments: sent });
  });

  it('inspect_workflow shows prompts in mode full and no steps in mode metadata', async () => {
    const files = [fileWith(LOOPS, { ref: 'team.loops.json' })];
    const full = await inspect(files, { workflowId: 'team.loops', mode: 'full' });
    expect(full.text).toContain('Repair {{item}}.');
    expect(full.structured).toMatchObject({ steps: [{ definition: { prompt: 'Look around.' } }, expect.anything()] });
    const metadata = await inspect(files, { workflowId: 'team.loops', mode: 'metadata' });
    expect(metadata.structured).not.toHaveProperty('steps');
    expect(metadata.text).not.toContain('Rounds');
  });

  it('inspect_workflow shows the hash that a new run would have', async () => {
    const services = servicesWith([fileWith(LOOPS, { ref: 'team.loops.json' })]);
    const [listed] = (await services.catalog.list()).workflows;
    const { hash } = sealWorkflow(listed?.workflow ?? expect.fail(), services.hasher.sha256);
    const { structured } = await inspect([fileWith(LOOPS, { ref: 'team.loops.json' })], { workflowId: 'team.loops' });
    expect(structured).toMatchObject({ workflow: { hash, source: { kind: 'project', ref: 'team.loops.json' } } });
  });

  it.each(INSPECT_MODES)('inspect_workflow replies in the published shape in mode %s', async (mode) => {
    enforces('inspect_workflow_shape', 'tool_metadata_complete');
    const services = ofAll;
    const { workflows } = await services.catalog.list();
    expect(workflows.length).toBeGreaterThan(15);
    for (const { id } of workflows) {
      const sent = { workflowId: id, mode };
      const { structured } = (await inspectWorkflowTool.run(services, sent, NOWHERE))._unsafeUnwrap();
      expect([id, inspectReplyShape.safeParse(structured).error]).toEqual([id, undefined]);
    }
  });

  it('inspect_workflow refuses an unknown or invalid workflow like start_workflow', async () => {
    const services = servicesWith([fileWith(workflowText('team.broken', { steps: [] }), { ref: 'team.broken.json' })]);
    const refused = async (workflowId: string) =>
      (await inspectWorkflowTool.run(services, { workflowId }, NOWHERE))._unsafeUnwrapErr();
    expect(await refused('team.nowhere')).toMatchObject({ code: 'workflow_not_found' });
    expect(await refused('team.broken')).toMatchObject({ code: 'workflow_invalid' });
  });

  it('a workflow of a source that nobody accepted is not a typing mistake', async () => {
    enforces('project_sources_need_a_person');
    const url = 'https://example.org/f.git';
    const reason = { code: 'not_accepted', source: 'flows', url, commit: 'a'.repeat(40) } as const;
    const place = { kind: 'remote', rank: 1.5, ref: 'flows/', path: '/repo/.workrail/sources.json' } as const;
    const waiting: WorkflowFile = { ...place, isInRoutines: false, content: { kind: 'unread', reason } };
    const services = servicesWith([waiting, fileWith(workflowText('wr.upgrade'), { kind: 'bundled' })]);
    const refused = async (workflowId: string) => {
      const inspected = (await inspectWorkflowTool.run(services, { workflowId }, NOWHERE))._unsafeUnwrapErr();
      const started = (await startWorkflowTool.run(services, { workflowId }, NOWHERE))._unsafeUnwrapErr();
      expect(started).toEqual(inspected);
      return inspected;
    };
    const said = expect.stringMatching(/^This repository asks for the source "flows" .*: workrail source accept$/);
    expect(await refused('team.upgrade')).toMatchObject({ code: 'workflow_not_found', waiting: [said] });
    // No source can have an id of a bundled workflow.
    expect(await refused('wr.upgrad')).not.toHaveProperty('waiting');
  });
});

describe('list_workflows', () => {
  it('list_workflows replies in the published shape', async () => {
    enforces('list_workflows_shape', 'tool_metadata_complete');
    const broken = fileWith('{', { ref: 'broken.json' });
    const listed = await listWorkflowsTool.run(servicesWith([...FILES, broken]), {}, NOWHERE);
    const { structured } = listed._unsafeUnwrap();
    expect(listReplyShape.safeParse(structured).error).toBeUndefined();
    expect(structured['invalid']).toContainEqual(expect.objectContaining({ file: 'broken.json' }));
  });

  it('list_workflows lists at most 20 invalid files, a search only those it is about, and counts the others', async () => {
    enforces('invalid_file_is_listed');
    const broken = Array.from({ length: 535 }, (_, i) => fileWith('{', { ref: `broken-${i}.json` }));
    const services = servicesWith(broken);
    const listed = async (sent: JsonObject) => {
      const { text, structured } = (await listWorkflowsTool.run(services, sent, NOWHERE))._unsafeUnwrap();
      expect(listReplyShape.safeParse(structured).error).toBeUndefined();
      const { invalid, invalidTotal } = structured as { invalid: readonly { file: string }[]; invalidTotal: number };
      return { text, files: invalid.map(({ file }) => file), invalidTotal };
    };
    const whole = await listed({});
    expect([whole.files.length, whole.invalidTotal]).toEqual([20, 535]);
    expect(whole.text).toContain('515 invalid files are not shown.');
    expect(await listed({ query: 'review' })).toMatchObject({ files: [], invalidTotal: 535 });
    expect(await listed({ query: 'broken-534' })).toMatchObject({ files: ['broken-534.json'], invalidTotal: 535 });
  });

  it('list_workflows with a query says how many workflows do not match', async () => {
    const services = ofAll;
    const { total } = (await listWorkflowsTool.run(services, {}, NOWHERE))._unsafeUnwrap().structured;
    const found = (await listWorkflowsTool.run(services, { query: 'first steps' }, NOWHERE))._unsafeUnwrap();
    expect(found.structured).toMatchObject({ workflows: [{ id: 'wr.first_steps' }], total });
    expect(found.text).toContain(`${Number(total) - 1} others do not match. list_workflows {} lists all ${total}.`);
    const sent = { query: 'zzz', tags: ['yyy'], workspacePath: '/repo' };
    const nothing = (await listWorkflowsTool.run(services, sent, NOWHERE))._unsafeUnwrap();
    expect(nothing.text.split('\n')[0]).toBe(
      `No workflow matches "zzz" and the tag "yyy". list_workflows {"workspacePath":"/repo"} lists all ${total}.`,
    );
  });

  it('list_workflows names each tag once', async () => {
    const { text } = (await listWorkflowsTool.run(ofAll, {}, NOWHERE))._unsafeUnwrap();
    const marks = [...text.matchAll(/\[([^\]\n]*)\]$/gm)].map(([, tags]) => tags?.split(', ') ?? []);
    expect(marks.some((tags) => tags.includes('routine'))).toBe(true);
    for (const tags of marks) expect(tags).toEqual([...new Set(tags)]);
  });
});
