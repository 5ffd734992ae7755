import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { share } from '../../volume.ts';
import { type AskedForm, CLIENT_KINDS, type FormAnswer, type TestClient, type ToolResult } from '../clients.ts';
import { data, type GatedPlace, gatedPlace, handIn, startedRun, textOf } from '../gated-run.ts';
import { runSmall, SMALL_PROGRAM } from '../small-program.ts';
import { atTerminal, CTRL_C, DOWN, hasTerminal, type Typed } from '../terminal.ts';
import { startHttp } from './local-http.ts';

let gated: GatedPlace;

beforeEach(() => {
  gated = gatedPlace();
});

afterEach(() => gated.remove());

const place = () => ({ env: { WORKRAIL_DATA_DIR: gated.env.WORKRAIL_DATA_DIR }, cwd: gated.here });
const started = (client: TestClient) => startedRun(client, gated);

const run = (...args: readonly string[]) =>
  runSmall(args, { cwd: gated.here, env: { ...place().env, PATH: process.env['PATH'] ?? '' } });

/** What waits for a person now. */
async function waitingNow(): Promise<readonly { readonly tag: string }[]> {
  return (JSON.parse((await run('waiting', '--json')).out) as { data: { waiting: { tag: string }[] } }).data.waiting;
}

/** The report of the only session. */
async function reported(): Promise<string> {
  const listed = JSON.parse((await run('session', 'list', '--json', '--all')).out) as {
    data: { sessions: { sessionId: string }[] };
  };
  return (await run('export', listed.data.sessions[0]?.sessionId ?? '', '--as', 'md')).out;
}

/** A person who looks at the form and answers when the test says so. */
function asksLater() {
  const answers: ((answer: FormAnswer) => void)[] = [];
  let show: () => void = () => undefined;
  const shown = new Promise<void>((resolve) => (show = resolve));
  return {
    shown,
    count: () => answers.length,
    answer: (answer: FormAnswer) => answers[0]?.(answer),
    onForm: () =>
      new Promise<FormAnswer>((resolve) => {
        answers.push(resolve);
        show();
      }),
  };
}

const KINDS = Object.entries(CLIENT_KINDS);

describe.each(KINDS)('%s over stdio', (kind, connect) => {
  it('an approval in the form of the client opens the gate in the same call, and the record says how', async () => {
    const forms: AskedForm[] = [];
    const onForm = (form: AskedForm): FormAnswer => {
      forms.push(form);
      return { action: 'accept', content: { decision: 'approve', comment: 'Go.' } };
    };
    const client = await connect(place(), { onForm });
    const reply = await client.call('continue_workflow', handIn(await started(client)));
    expect([data(reply).kind, data(reply).pending?.stepId]).toEqual(['ok', 'tell']);
    expect(forms).toHaveLength(1);
    expect(forms[0]?.message).toContain('| Shipped 1.2 to production.');
    expect(forms[0]?.requestedSchema).toMatchObject({ required: ['decision'] });
    await client.close();
    expect(await reported()).toContain('approved in a form of the client "workrail-test 0"');
  });

  it('an answer to a draft whose files changed while the form was open is not recorded, and the reply says why', async () => {
    const here = gated.here;
    const git = (...args: string[]) =>
      spawnSync('git', ['-C', here, '-c', 'user.name=T', '-c', 'user.email=t@e.org', ...args]);
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'All');
    let shown = 0;
    const onForm = (): FormAnswer => {
      shown += 1;
      if (shown === 1) writeFileSync(join(here, 'late.txt'), 'late');
      return { action: 'accept', content: { decision: 'approve' } };
    };
    const client = await connect(place(), { onForm });
    const blocked = await client.call('continue_workflow', handIn(await started(client)));
    expect(data(blocked).kind).toBe('blocked');
    expect(textOf(blocked)).toContain(
      'The user answered, but what the answer is about changed while the form was open',
    );
    const next = await client.call('continue_workflow', { ackToken: data(blocked).ackToken });
    expect([data(next).pending?.stepId, shown]).toEqual(['tell', 2]);
    await client.close();
  });

  it('a rejection keeps the gate closed, and the agent reads the comment', async () => {
    const onForm = (): FormAnswer => ({
      action: 'accept',
      content: { decision: 'reject', comment: 'Not on a Friday.' },
    });
    const client = await connect(place(), { onForm });
    const reply = await client.call('continue_workflow', handIn(await started(client)));
    expect(data(reply).kind).toBe('blocked');
    expect(textOf(reply)).toContain('Not on a Friday.');
    await client.close();
  });

  it('a late answer counts: the call returns when the project says, and the call of the agent advances', async () => {
    const form = asksLater();
    writeFileSync(join(gated.here, '.workrail', 'config.json'), JSON.stringify({ 'gates.waitSeconds': 0 }));
    const client = await connect(place(), { onForm: form.onForm });
    const ackToken = await started(client);
    const first = client.call('continue_workflow', handIn(ackToken));
    await form.shown;
    expect(await waitingNow()).toHaveLength(1);
    if (kind.includes('2026')) {
      // The first request is over, so the client itself waits for the person.
      form.answer({ action: 'accept', content: { decision: 'approve' } });
      expect(data(await first).pending?.stepId).toBe('tell');
    } else {
      const blocked = await first;
      expect(textOf(blocked)).toContain("A form is open at the user's client.");
      const again = await client.call('continue_workflow', { ackToken: data(blocked).ackToken });
      expect([data(again).kind, form.count()]).toEqual(['blocked', 1]);
      form.answer({ action: 'accept', content: { decision: 'approve' } });
      while ((await waitingNow()).length > 0);
      const next = await client.call('continue_workflow', { ackToken: data(again).ackToken });
      expect([data(next).kind, data(next).pending?.stepId]).toEqual(['ok', 'tell']);
    }
    await client.close();
    expect(await reported()).toContain('approved in a form of the client "workrail-test 0"');
  });
});

// What follows is the same for every client: a check tries it with one of them.
describe.each(share(KINDS, { every: KINDS.length }))('%s over stdio, further on', (_, connect) => {
  it('a form that is declined, cancelled or sent without a decision records nothing, and the reply says so', async () => {
    const answers: FormAnswer[] = [{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: {} }];
    const client = await connect(place(), { onForm: () => answers.shift() ?? expect.fail('asked too often') });
    for (const { action } of [...answers]) {
      const reply = await client.call('continue_workflow', handIn(await started(client)));
      expect([action, data(reply).kind]).toEqual([action, 'blocked']);
      expect(textOf(reply)).toMatch(/The client was asked and nobody decided \(\w+ after \d+ ms\)/);
      expect(data(reply).warnings?.map(({ code }) => code)).toContain('person_asked');
    }
    expect(await waitingNow()).toHaveLength(3);
    await client.close();
  });

  it('a client without forms gets the one way that works here', async () => {
    const client = await connect(place());
    const reply = await client.call('continue_workflow', handIn(await started(client)));
    expect(data(reply).kind).toBe('blocked');
    expect(textOf(reply)).toMatch(/ answer [0-9a-z]{4}`/);
    await client.close();
  });

  it.runIf(hasTerminal)('an answer counts while the chat is gone, and a new chat continues with it', async () => {
    const client = await connect(place());
    const blocked = await client.call('continue_workflow', handIn(await started(client)));
    await client.close();
    expect((await answerAt(tagIn(blocked), decided('approve'))).code).toBe(0);
    const other = await connect(place());
    const resumed = await other.call('resume_session', { workspacePath: gated.here });
    expect(textOf(resumed)).toContain('A person answered: draft');
    const { nextCall } = resumed.structuredContent as {
      nextCall: { tool: string; arguments: Record<string, unknown> };
    };
    const next = await other.call(nextCall.tool, nextCall.arguments);
    expect([data(next).kind, data(next).pending?.stepId]).toEqual(['ok', 'tell']);
    await other.close();
  });

  it('doing the step again after a fork asks again, for the same draft and for another', async () => {
    const codes: string[] = [];
    const onForm = ({ message }: AskedForm): FormAnswer => {
      codes.push(/draft ([A-Z]{4})/.exec(message)?.[1] ?? '');
      return { action: 'accept', content: { decision: 'approve' } };
    };
    const client = await connect(place(), { onForm });
    const workspacePath = gated.here;
    const start = await client.call('start_workflow', { workflowId: 'project.release', workspacePath });
    const { stateToken } = start.structuredContent as { stateToken: string };
    let ackToken = data(start).ackToken;
    for (const notesMarkdown of ['Shipped 1.2.', 'Shipped 1.2.', 'Shipped 1.3.']) {
      const done = await client.call('continue_workflow', { ackToken, output: { notesMarkdown } });
      expect(data(done).pending?.stepId).toBe('tell');
      ackToken = data(await client.call('continue_workflow', { stateToken })).ackToken;
    }
    expect([codes[0] === codes[1], codes[0] === codes[2], codes.length]).toEqual([true, false, 3]);
    await client.close();
  });

  it('a replay and a look at the blocked step ask nobody', async () => {
    enforces('only_new_blocks_ask');
    const first = await connect(place());
    const ackToken = await started(first);
    const blocked = await first.call('continue_workflow', handIn(ackToken));
    await first.close();
    const client = await connect(place(), { onForm: () => expect.fail('somebody was asked') });
    const replayed = await client.call('continue_workflow', handIn(ackToken));
    expect(replayed.structuredContent).toEqual(blocked.structuredContent);
    const { stateToken } = blocked.structuredContent as { stateToken: string };
    expect(data(await client.call('continue_workflow', { stateToken })).kind).toBe('blocked');
    await client.close();
  });

  it('answers in arguments and _meta open nothing', async () => {
    const client = await connect(place(), { onForm: () => ({ action: 'decline' }) });
    const ackToken = await started(client);
    const answer = { approval: { action: 'accept', content: { decision: 'approve' } } };
    const smuggled = { ...handIn(ackToken), inputResponses: answer, requestState: 'wr1.e30.AAAA' };
    const refused = await client.call('continue_workflow', smuggled);
    expect(data(refused).kind).not.toBe('ok');
    const reply = await client.call('continue_workflow', handIn(ackToken));
    expect(data(reply).kind).toBe('blocked');
    await client.close();
  });
});

it('a form shows the context that the step would change, and a draft that does not fit is recorded as shown in part', async () => {
  const forms: AskedForm[] = [];
  const onForm = (form: AskedForm): FormAnswer => {
    forms.push(form);
    return { action: 'accept', content: { decision: 'approve' } };
  };
  const client = await (CLIENT_KINDS['client 1.x'] ?? expect.fail())(place(), { onForm });
  const { ackToken } = handIn(await started(client));
  await client.call('continue_workflow', { ...handIn(ackToken), context: { target: 'production' } });
  expect(forms[0]?.message).toContain('| context "target": "production"');
  const manyLines = `${'x\n'.repeat(640)}And I drop the table.`;
  await client.call('continue_workflow', { ackToken: await started(client), output: { notesMarkdown: manyLines } });
  expect(forms[1]?.message).toMatch(/\(draft \w{4}, the beginning\):[\s\S]*\nTo see all of it: .* answer \w{4}$/);
  expect(forms[1]?.message.length).toBeLessThanOrEqual(2_000);
  await client.close();
  expect(await reported()).toContain('only the beginning of the draft was shown');
});

it('a server with an open form ends by itself when the client hangs up, and the block stays on record', async () => {
  const first = await connectFirst();
  const ackToken = await started(first);
  await first.close();
  const child = spawn(process.execPath, [SMALL_PROGRAM, 'serve'], { ...place(), stdio: 'pipe' });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const isAsked = new Promise<void>((resolve) => {
    let talk = '';
    child.stdout.on('data', (part: Buffer) => {
      talk += part.toString();
      if (talk.includes('elicitation/create')) resolve();
    });
  });
  const capabilities = { elicitation: {} };
  const clientInfo = { name: 'raw', version: '1' };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities, clientInfo } });
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: { name: 'continue_workflow', arguments: handIn(ackToken) } });
  await isAsked;
  const ended = new Promise<readonly unknown[]>((resolve) => child.once('exit', (...how) => resolve(how)));
  const hungUpAt = performance.now();
  child.stdin.end();
  expect(await ended).toEqual([0, null]);
  console.log(`exit with an open form: ${Math.round(performance.now() - hungUpAt)} ms after the client hung up`);
  expect(await waitingNow()).toHaveLength(1);
  const other = await connectFirst();
  expect(data(await other.call('continue_workflow', handIn(ackToken))).kind).toBe('blocked');
  await other.close();
});

async function connectFirst(): Promise<TestClient> {
  const [connect] = Object.values(CLIENT_KINDS);
  if (connect === undefined) throw new Error('there is a client');
  return connect(place());
}

it('without a terminal nobody can answer, whatever is piped in or passed', async () => {
  const client = await connectFirst();
  await client.call('continue_workflow', handIn(await started(client)));
  const tag = (await waitingNow())[0]?.tag ?? '';
  for (const args of [
    ['answer', tag],
    ['answer', tag, '--json'],
    ['answer', tag, 'approve'],
    ['answer', tag, '--yes'],
  ]) {
    const { exitCode } = await run(...args);
    expect([args, exitCode === 5 || exitCode === 2]).toEqual([args, true]);
  }
  await client.close();
});

/** Answers as a person at a terminal would, and gives back what was on the screen. */
const answerAt = (tag: string, typed: readonly Typed[]) => atTerminal(['answer', tag], { ...place(), typed });

const codeOf = (text: string) => `${/draft ([A-Z]{4})/.exec(text)?.[1] ?? ''}\r`;
const decided = (decision: 'approve' | 'reject', comment = ''): readonly Typed[] => [
  [/Not now/, `${decision === 'approve' ? DOWN : `${DOWN}${DOWN}`}\r`],
  [/Comment for the agent/, `${comment}\r`],
  [/Type the code/, codeOf],
];

const tagIn = (blocked: ToolResult) => / answer ([0-9a-z]{4})`/.exec(textOf(blocked))?.[1] ?? '';

it.runIf(hasTerminal)(
  'a person at a terminal approves exactly the draft that was shown, and the record says so',
  async () => {
    const client = await connectFirst();
    const blocked = await client.call('continue_workflow', handIn(await started(client)));
    const { code, text } = await answerAt(tagIn(blocked), decided('approve', 'Fine by me.'));
    expect([code, text]).toEqual([0, expect.stringContaining('Shipped 1.2 to production.')]);
    const next = await client.call('continue_workflow', { ackToken: data(blocked).ackToken });
    expect([data(next).kind, data(next).pending?.stepId]).toEqual(['ok', 'tell']);
    await client.close();
    expect(await reported()).toContain('approved at a terminal');
  },
);

it.runIf(hasTerminal)(
  'the newest answer counts until the step is done, and then an answer is refused as already used',
  async () => {
    const client = await connectFirst();
    const blocked = await client.call('continue_workflow', handIn(await started(client)));
    const tag = tagIn(blocked);
    expect((await answerAt(tag, decided('approve'))).code).toBe(0);
    expect(await waitingNow()).toEqual([]);
    const second = await answerAt(tag, decided('reject', 'Not on a Friday.'));
    expect([second.code, second.text]).toEqual([0, expect.stringContaining('Already approved at a terminal')]);
    const held = await client.call('continue_workflow', { ackToken: data(blocked).ackToken });
    expect([data(held).kind, textOf(held)]).toEqual(['blocked', expect.stringContaining('Not on a Friday.')]);
    expect((await answerAt(tag, decided('approve'))).code).toBe(0);
    const late = await answerAt(tag, [
      ...decided('reject').slice(0, 2),
      [
        /Type the code/,
        async (text) => {
          const next = await client.call('continue_workflow', { ackToken: data(held).ackToken });
          expect(data(next).pending?.stepId).toBe('tell');
          return codeOf(text);
        },
      ],
    ]);
    expect([late.code, late.text]).toEqual([1, expect.stringContaining('The step is already done')]);
    expect((await answerAt(tag, [])).code).toBe(3);
    await client.close();
  },
);

it.runIf(hasTerminal)('a file that was edited after the approval asks again', async () => {
  const here = gated.here;
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: here });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'All');
  const client = await connectFirst();
  const blocked = await client.call('continue_workflow', handIn(await started(client)));
  const { text } = await answerAt(tagIn(blocked), decided('approve'));
  expect(text).toContain('The answer counts only for the files as they are now');
  writeFileSync(join(here, 'late.txt'), 'Not seen by anybody.');
  const again = await client.call('continue_workflow', { ackToken: data(blocked).ackToken });
  expect([data(again).kind, (await waitingNow()).length]).toEqual(['blocked', 1]);
  await client.close();
});

it.runIf(hasTerminal)('a wrong code and an early end at the terminal record nothing', async () => {
  const client = await connectFirst();
  const blocked = await client.call('continue_workflow', handIn(await started(client)));
  const tag = tagIn(blocked);
  const ended = await answerAt(tag, [
    ...decided('approve').slice(0, 2),
    [/Type the code/, 'QQQQ\r'],
    [/The code is/, CTRL_C],
  ]);
  expect(ended.code).toBe(130);
  expect((await answerAt(tag, [[/Not now/, '\r']])).code).toBe(130);
  expect(await waitingNow()).toHaveLength(1);
  await client.close();
});

it('over HTTP, a client of the 2026 era is asked and a client of the 2025 era is blocked at once', async () => {
  const server = await startHttp({ ...place().env });
  const onForm = (): FormAnswer => ({ action: 'accept', content: { decision: 'approve' } });
  for (const [kind, connect] of Object.entries(CLIENT_KINDS)) {
    const client = await connect(server, { onForm });
    const reply = await client.call('continue_workflow', handIn(await started(client)));
    expect([kind, data(reply).kind]).toEqual([kind, kind.includes('2026') ? 'ok' : 'blocked']);
    await client.close();
  }
  await server.stop();
});

it('an answer to a question that another launch asked counts once, and the report says so', async () => {
  let server = await startHttp({ ...place().env });
  const onForm = async (): Promise<FormAnswer> => {
    await server.stop();
    server = await startHttp({ ...place().env }, SMALL_PROGRAM, new URL(server.url).port);
    return { action: 'accept', content: { decision: 'approve' } };
  };
  const client = await (CLIENT_KINDS['client 2.x on protocol 2026-07-28'] ?? expect.fail())(server, { onForm });
  const reply = await client.call('continue_workflow', handIn(await started(client)));
  expect(data(reply).kind).toBe('ok');
  await client.close();
  await server.stop();
  expect(await reported()).toContain('the answer came to another launch of WorkRail than the one that asked');
});
