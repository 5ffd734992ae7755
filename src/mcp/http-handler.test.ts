import { expect, it } from 'vitest';
import { memoryServices } from '../../test/examples/memory-services.ts';
import { recentReplies } from './explain/recent-replies.ts';
import { mcpHttpHandler } from './http-handler.ts';
import { TEAM_MESSAGE_LIMITS } from './message-limits.ts';
import { type Backend, callsUnderWay } from './server.ts';

const BACKEND: Backend = {
  version: '1',
  services: async () => memoryServices(),
  recent: recentReplies(),
  log: { trouble: () => undefined, call: () => undefined, event: () => undefined },
  calls: callsUnderWay(),
  called: () => undefined,
  appended: () => undefined,
  place: { workingDir: '/', homeDir: '/home/me' },
};
const CALLER = { principal: 'ann', isReader: false };
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

const post = (body: unknown) =>
  new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(body),
  });

it('a team server answers one message a request, so that a batch does not pass the limit of a caller', async () => {
  const team = mcpHttpHandler(BACKEND, { messages: TEAM_MESSAGE_LIMITS, areBatchesTaken: false });
  expect((await team.fetch(post(LIST), CALLER)).status).toBe(200);
  const refused = await team.fetch(post(Array(100).fill(LIST)), CALLER);
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('no batches')]);
  const long = await team.fetch(post({ ...LIST, params: { text: 'x'.repeat(5 * 1024 * 1024) } }), CALLER);
  expect(long.status).toBe(413);
  await team.stop();
});
