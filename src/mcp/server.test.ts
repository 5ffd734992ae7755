import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { expect, it, vi } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { memoryServices } from '../../test/examples/memory-services.ts';
import type { Services } from '../app/services.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { recentReplies } from './explain/recent-replies.ts';
import { type Backend, callsUnderWay, mcpBackend, mcpServer, serverLog } from './server.ts';

function backendWith(services: () => Promise<Services>): { readonly backend: Backend; readonly told: string[] } {
  const told: string[] = [];
  const log = {
    trouble: (message: string) => told.push(message.split('\n')[0] ?? ''),
    call: (entry: object) => told.push(JSON.stringify({ ...entry, ms: 0 })),
    event: () => undefined,
  };
  const place = { workingDir: '/', homeDir: '/home/me' };
  return {
    backend: {
      version: '1',
      services,
      recent: recentReplies(),
      log,
      calls: callsUnderWay(),
      called: () => undefined,
      appended: () => undefined,
      place,
    },
    told,
  };
}

async function connected(backend: Backend): Promise<Client> {
  const [here, there] = InMemoryTransport.createLinkedPair();
  await mcpServer(backend).connect(there);
  const client = new Client({ name: 'test', version: '0' });
  await client.connect(here);
  return client;
}

it('an internal error is reported to the agent, and its cause only to the log', async () => {
  enforces('error_never_thrown_across_boundary', 'tool_errors_are_results');
  const wrong = () => Promise.reject(new Error('two and two is five'));
  const catalog = { list: wrong, find: wrong, isUnchanged: wrong };
  const { backend, told } = backendWith(async () => ({ ...memoryServices(), catalog }));
  const client = await connected(backend);
  const result = await client.callTool({ name: 'list_workflows', arguments: { query: 'x' } });
  expect(result).toMatchObject({
    isError: true,
    structuredContent: {
      error: {
        code: 'INTERNAL',
        retry: { kind: 'retryable_immediate' },
        nextCall: { tool: 'list_workflows', arguments: { query: 'x' } },
      },
    },
  });
  expect(JSON.stringify(result)).not.toContain('five');
  expect(told).toEqual([
    'Error: two and two is five',
    JSON.stringify({ tool: 'list_workflows', outcome: 'error', code: 'INTERNAL', ms: 0 }),
  ]);
  await client.close();
});

it('the store is opened by the first call, not before', async () => {
  enforces('startup_has_no_side_effects');
  let opened = 0;
  const { backend } = backendWith(async () => {
    opened += 1;
    return memoryServices();
  });
  const client = await connected(backend);
  await client.listTools();
  await client.listPrompts();
  expect(opened).toBe(0);
  await client.callTool({ name: 'list_workflows', arguments: {} });
  expect(opened).toBe(1);
  await client.close();
});

it('a call on a 2025 connection that carries fields of 2026 is answered like any other', async () => {
  const { backend } = backendWith(async () => memoryServices());
  const [here, there] = InMemoryTransport.createLinkedPair();
  await mcpServer(backend).connect(there);
  const replies = new Map<unknown, (message: object) => void>();
  // Raw messages: a client of the library adds no fields of another version.
  here.onmessage = (message) => {
    if ('method' in message && 'id' in message) {
      void here.send({ jsonrpc: '2.0', id: message.id, result: { roots: [{ uri: 'file:///home/me/shop' }] } });
    } else if ('id' in message) replies.get(message.id)?.(message);
  };
  await here.start();
  const request = (id: number, method: string, params: JsonObject) =>
    new Promise<object>((resolve) => {
      replies.set(id, resolve);
      void here.send({ jsonrpc: '2.0', id, method, params });
    });
  const capabilities = { roots: {}, elicitation: {} };
  const clientInfo = { name: 'test', version: '0' };
  await request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'other', version: '9' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const reply = await request(2, 'tools/call', { name: 'resume_session', arguments: {}, _meta });
  expect(reply).toMatchObject({ result: { structuredContent: { kind: 'ok', candidates: [] } } });
  await here.close();
});

function lines(isStructured: boolean): readonly string[] {
  const written: string[] = [];
  const log = serverLog({ write: (text) => written.push(text), isStructured, now: () => new Date(0) });
  log.event('serving', { transport: 'stdio' });
  log.call({ tool: 'continue_workflow', outcome: 'ok', run: '7f3a', ms: 4 });
  log.call({ tool: 'continue_workflow', outcome: 'error', code: 'STORE_IO', ms: 2 });
  log.trouble('The disk\nis full.');
  return written;
}

it('the server logs only problems unless logging is on', () => {
  expect(lines(false)).toEqual(['workrail: The disk\nis full.\n']);
});

it('the server logs everything as lines of JSON if logging is on', () => {
  const at = '1970-01-01T00:00:00.000Z';
  expect(lines(true).map((line) => JSON.parse(line))).toEqual([
    { at, level: 'info', event: 'serving', transport: 'stdio' },
    { at, level: 'info', event: 'call', tool: 'continue_workflow', outcome: 'ok', run: '7f3a', ms: 4 },
    { at, level: 'error', event: 'call', tool: 'continue_workflow', outcome: 'error', code: 'STORE_IO', ms: 2 },
    { at, level: 'error', event: 'trouble', message: 'The disk\nis full.' },
  ]);
  expect(lines(true).every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
});

it('settled() waits for running calls, even if they fail', async () => {
  const calls = callsUnderWay();
  const ended: string[] = [];
  const working = (name: string) =>
    calls.during(() => new Promise((resolve) => setTimeout(resolve, 10)).then(() => ended.push(name)));
  void working('one');
  void working('two')
    .then(() => Promise.reject(new Error('three')))
    .catch(() => ended.push('three'));
  void calls.during(() => Promise.reject(new Error('four'))).catch(() => undefined);
  await calls.settled();
  expect(ended).toEqual(['one', 'two', 'three']);
});

it('settled() does not wait if no call is running', async () => {
  await expect(callsUnderWay().settled()).resolves.toBeUndefined();
});

it('when there was no call for a while, the server says which tools were called without a refusal', async () => {
  const rests: string[][] = [];
  const services = async () => memoryServices();
  const made = mcpBackend({ version: '1', services, isLogged: false, onRest: (called) => rests.push([...called]) });
  const client = await connected({ ...made, log: backendWith(services).backend.log });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await client.callTool({ name: 'list_workflows', arguments: {} });
    vi.advanceTimersByTime(1_900);
    await client.callTool({ name: 'list_workflows', arguments: { query: 'x' } });
    await client.callTool({ name: 'no_such_tool', arguments: {} });
    vi.advanceTimersByTime(1_900);
    expect(rests).toEqual([]);
    vi.advanceTimersByTime(200);
  } finally {
    vi.useRealTimers();
  }
  expect(rests).toEqual([['list_workflows']]);
});
