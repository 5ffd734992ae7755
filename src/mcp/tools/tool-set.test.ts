import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { AUTONOMY } from '../../core/log/autonomy.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { publishedTools } from '../answer-call.ts';
import { readArguments } from '../arguments/read-arguments.ts';
import { ALL_TOOLS, TOOLS } from './tool-set.ts';

const GOLDEN = fileURLToPath(new URL('../../../test/golden/tools', import.meta.url));

/** Of the result of tools/list, in bytes. */
const LIST_BYTES_MAX = 7_500;
const WITH_ALL = { isSessionStartOn: true };

describe('the tools', () => {
  it('are these and no others, and none of them shows what is derived', () => {
    enforces('tools_closed_set', 'no_projection_tools', 'no_session_crud_tools', 'resume_on_by_default');
    const names = publishedTools().map(({ name }) => name);
    expect(names).toEqual([
      'list_workflows',
      'inspect_workflow',
      'start_workflow',
      'continue_workflow',
      'checkpoint_workflow',
      'resume_session',
    ]);
    const all = publishedTools(WITH_ALL).map(({ name }) => name);
    expect(all).toEqual([...names, 'start_session']);
    expect(readdirSync(GOLDEN).sort()).toEqual(all.map((name) => `${name}.json`).sort());
  });

  it('take what they are meant to take', () => {
    enforces('resume_arguments', 'checkpoint_arguments');
    const taken = (name: string) => TOOLS.find((tool) => tool.name === name)?.arguments ?? expect.fail(name);
    const required = (name: string) =>
      Object.entries(taken(name)).flatMap(([argument, { isRequired }]) => (isRequired ? [argument] : []));
    expect(Object.keys(taken('resume_session'))).toEqual([
      'query',
      'workspacePath',
      'gitBranch',
      'gitHeadSha',
      'sessionId',
      'runId',
    ]);
    expect(required('resume_session')).toEqual([]);
    expect(Object.keys(taken('checkpoint_workflow'))).toEqual([
      'checkpointToken',
      'stateToken',
      'sessionToken',
      'output',
    ]);
    expect(required('checkpoint_workflow')).toEqual(['checkpointToken', 'output']);
  });

  it.each(publishedTools(WITH_ALL).map((tool) => [tool.name, tool] as const))(
    '%s is published as it was agreed, to the byte',
    (name, tool) => {
      enforces('tools_closed_set', 'tool_schema_and_description_one_source');
      expect(`${JSON.stringify(tool, null, 2)}\n`).toBe(readFileSync(`${GOLDEN}/${name}.json`, 'utf8'));
    },
  );

  it('take little room in the context of an agent', () => {
    enforces('budget_tools_list');
    const bytes = utf8Length(JSON.stringify({ tools: publishedTools() }));
    expect(bytes).toBeLessThanOrEqual(LIST_BYTES_MAX);
  });

  it('have a title, all four annotations, what they take, and no promise about what they give', () => {
    enforces('tool_metadata_complete');
    for (const tool of publishedTools(WITH_ALL)) {
      expect(Object.keys(tool)).toEqual(['name', 'title', 'description', 'inputSchema', 'annotations']);
      expect(tool.title).toMatch(/^[A-Z]/);
      expect(Object.keys(tool.annotations ?? {})).toEqual([
        'readOnlyHint',
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
      ]);
      expect(tool.inputSchema).toMatchObject({ type: 'object', properties: expect.anything() });
    }
  });

  it('say truly what they change: only looking changes nothing, and only starting again makes another run', () => {
    const hints = (hint: keyof (typeof TOOLS)[number]['annotations']) =>
      ALL_TOOLS.filter(({ annotations }) => annotations[hint]).map(({ name }) => name);
    expect(hints('readOnlyHint')).toEqual(['list_workflows', 'inspect_workflow', 'resume_session']);
    expect(ALL_TOOLS.length - hints('idempotentHint').length).toBe(2);
    for (const name of ['start_workflow', 'start_session']) expect(hints('idempotentHint')).not.toContain(name);
    expect([...hints('destructiveHint'), ...hints('openWorldHint')]).toEqual([]);
  });

  it.each(ALL_TOOLS.map((tool) => [tool.name, tool] as const))(
    '%s is described with one example, which it takes',
    (_, tool) => {
      const examples = [...tool.description.matchAll(/Example: (\{.*\})$/g)];
      expect(examples).toHaveLength(1);
      const sent = JSON.parse(examples[0]?.[1] ?? '');
      expect(readArguments(tool.arguments, sent)._unsafeUnwrap()).toEqual(sent);
    },
  );

  it('tell agents to write about one step only, and what the modes are', () => {
    enforces('notes_are_per_step', 'mode_presets');
    const { output } = TOOLS.find(({ name }) => name === 'continue_workflow')?.arguments ?? {};
    expect(JSON.stringify(output)).toContain('this step only');
    for (const name of ['start_workflow', 'continue_workflow']) {
      const { inputSchema } = publishedTools().find((tool) => tool.name === name) ?? expect.fail(name);
      expect(inputSchema.properties).toMatchObject({ mode: { enum: AUTONOMY } });
    }
  });
});
