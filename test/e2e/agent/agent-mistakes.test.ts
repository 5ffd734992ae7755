import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/core/json/json-value.ts';
import { enforces } from '../../enforces.ts';
import { filledCall } from '../../examples/filled-call.ts';
import { CLIENTS, type TestClient, type ToolResult } from '../clients.ts';

type Call = { readonly tool: string; readonly arguments: JsonObject };
type Mistake = Call & {
  /** What the reply must say: the argument concerned and what it must be. */
  readonly says: readonly string[];
  /** What a reader of the reply sends, if the reply has no call of its own. */
  readonly then?: Call;
  readonly taken?: true;
};

const { mistakes } = JSON.parse(readFileSync(new URL('agent-mistakes.json', import.meta.url), 'utf8')) as {
  readonly mistakes: readonly Mistake[];
};
/** One in twenty may need a second correction. */
const REPAIRED_MIN = 0.95;

it('40 mistakes of agents get a located answer, and what the answer says repairs nearly all of them', async () => {
  enforces('agent_mistakes_repaired');
  const dataDir = mkdtempSync(join(tmpdir(), 'workrail-mistakes-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const client = (await CLIENTS['client 2.x']?.({ WORKRAIL_DATA_DIR: dataDir })) ?? expect.fail('a client');
  onTestFinished(() => client.close());
  const [unlocated, unrepaired, refused]: [string[], string[], string[]] = [[], [], []];
  for (const mistake of mistakes) {
    const shown = `${mistake.tool} ${JSON.stringify(mistake.arguments)}`;
    const tokens = await newRun(client);
    const answer = await send(client, withTokens(mistake, tokens));
    const text = textOf(answer);
    if (!mistake.says.every((word) => text.includes(word))) unlocated.push(`${shown}\n  ${text}`);
    if (mistake.taken === true && isRefused(answer)) refused.push(shown);
    if (!isRefused(answer)) continue;
    const call = offeredCall(answer) ?? mistake.then;
    const again = call === undefined ? undefined : await send(client, filledCall(withTokens(call, tokens)));
    if (again === undefined || isRefused(again)) unrepaired.push(`${shown}\n  ${text}\n  ${again && textOf(again)}`);
  }
  expect([unlocated, refused]).toEqual([[], []]);
  expect(unrepaired.length, unrepaired.join('\n')).toBeLessThanOrEqual(mistakes.length * (1 - REPAIRED_MIN));
  expect(mistakes.length).toBeGreaterThanOrEqual(40);
});

type Tokens = { readonly [name: string]: string };

async function newRun(client: TestClient): Promise<Tokens> {
  const { structuredContent } = await client.call('start_workflow', { workflowId: 'wr.first_steps', goal: 'look' });
  const { ackToken, stateToken, checkpointToken } = structuredContent as { readonly [name: string]: string };
  const ack = ackToken ?? expect.fail('a token');
  return { $ack: ack, '$ack-cut': ack.slice(0, 30), $state: stateToken ?? '', $checkpoint: checkpointToken ?? '' };
}

function withTokens(call: Call, tokens: Tokens): Call {
  const filled = (_: string, value: unknown) => (typeof value === 'string' ? (tokens[value] ?? value) : value);
  return { tool: call.tool, arguments: JSON.parse(JSON.stringify(call.arguments), filled) as JsonObject };
}

function send(client: TestClient, { tool, arguments: sent }: Call): Promise<ToolResult> {
  return client.call(tool, sent);
}

function isRefused({ isError, structuredContent }: ToolResult): boolean {
  return isError === true || structuredContent?.['kind'] === 'blocked';
}

function offeredCall({ structuredContent }: ToolResult): Call | undefined {
  const { nextCall, error } = structuredContent as { nextCall?: Call; error?: { nextCall?: Call } };
  return nextCall ?? error?.nextCall;
}

function textOf({ content }: ToolResult): string {
  return content.map(({ text = '' }) => text).join('\n');
}
