import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enforces } from '../enforces.ts';
import { filledCall } from '../examples/filled-call.ts';
import { CLIENTS, type TestClient } from './clients.ts';
import { runSmall } from './small-program.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-look-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('session resume prints text that continues a run in a new chat, at the current or an earlier step', async () => {
  enforces('cli_session_resume_prompt');
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, WORKRAIL_DATA_DIR: join(folder, 'data') };
  const inChat = async <Value>(chat: (client: TestClient) => Promise<Value>): Promise<Value> => {
    const client = await CLIENTS['client 2.x']?.(env);
    if (client === undefined) expect.fail('there is a client');
    return chat(client).finally(() => client.close());
  };
  const cli = (...args: string[]) => runSmall(args, { env, cwd: folder });
  const pasted = (...args: string[]) =>
    inChat(async (client) => {
      const { out } = await cli('session', 'resume', ...args);
      const [, tool = '', given = '{}'] = /^ {2}(\w+) (\{.*\})$/m.exec(out) ?? [];
      const { isError, structuredContent } = await client.call(tool, JSON.parse(given));
      expect(isError).not.toBe(true);
      return structuredContent as { readonly pending: { readonly stepId: string }; readonly ackToken: string };
    });

  const first = await inChat(async (client) => {
    const goal = 'find the \u001b[31mway\u001b[0m back';
    const started = await client.call('start_workflow', { workflowId: 'wr.first_steps', goal, workspacePath: folder });
    const { nextCall } = started.structuredContent as {
      nextCall: { tool: string; arguments: Record<string, unknown> };
    };
    await client.call(nextCall.tool, filledCall(nextCall).arguments);
    return started.structuredContent as { readonly pending: { readonly stepId: string } };
  });
  const now = await pasted();
  expect(now.pending.stepId).not.toBe(first.pending.stepId);
  expect(now.ackToken).toMatch(/^ack_/);
  expect((await pasted('--at', '1')).pending.stepId).toBe(first.pending.stepId);

  const listed = await cli('session', 'list');
  expect([listed.exitCode, listed.out]).toEqual([0, expect.stringContaining('find the \\u001b[31mway')]);
  expect((await cli('session', 'tree')).out).toMatch(/^wr\.first_steps .*\n✓ 1 .*\n● 2 /);
});
