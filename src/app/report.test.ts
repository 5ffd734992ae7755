import { err } from 'neverthrow';
import { describe, expect, it, test } from 'vitest';
import { FORMATS, hunted, reportOf } from '../../test/e2e/report/hunted-report.ts';
import { bugHunt, huntEngine } from '../../test/e2e/report/report-session.ts';
import { enforces } from '../../test/enforces.ts';
import { exportServices } from '../../test/examples/bundles.ts';
import { engine, withFile } from '../../test/examples/engine.ts';
import { sha256 } from '../../test/examples/sha256.ts';
import { sessionOf } from '../../test/examples/shared-session.ts';
import { memoryStore } from '../adapters/memory-store/memory-store.ts';
import { storeKeyOf } from '../adapters/system.ts';
import { reportHtml } from '../core/report/html/report-html.ts';
import { reportMarkdown } from '../core/report/markdown/report-markdown.ts';
import type { ReportEntry } from '../core/report/report.ts';
import type { Store } from './ports/store.ts';
import { readReport } from './report.ts';
import { closeRuns } from './upkeep/close-runs.ts';

/** A short form of an entry. */
function brief(entry: ReportEntry): string {
  const step = 'step' in entry ? entry.step?.stepId : '';
  return `${entry.branch} ${entry.kind} ${step}`.trim();
}

describe('reports', () => {
  it('a report counts steps along each branch, as replies do', async () => {
    const { report } = await hunted();
    const markdown = reportMarkdown(report);
    const [run] = report.sessions[0]?.runs ?? [];
    expect(run?.workflow.steps).toBe(6);
    expect(markdown).toContain(
      'the workflow has 6 steps, and 5 of them were done at least once. Steps are numbered in the order in which they ran on each branch; skipped steps have no number.',
    );
    for (const heading of ['✓ 2. Hypotheses', '✓ 3. Fix it', '▲ 4. Verify the fix (blocked)', '✓ 5. Wrap up']) {
      expect(markdown).toContain(`# ${heading}`);
    }
  });

  it('a report shows the branches, steps, blocked attempts, checkpoints and gaps of each run', async () => {
    const { report, sessionId } = await hunted();
    const [session] = report.sessions;
    const [first, second, ...others] = session?.runs ?? [];
    expect([session?.sessionId, report.sessions.length, others]).toEqual([sessionId, 1, []]);
    expect(first?.entries.map(brief)).toEqual([
      'main start',
      'main step triage',
      'main checkpoint hypotheses',
      'main step hypotheses',
      'main step fix',
      'A step hypotheses',
      'A step fix',
      'A blocked_attempt verify',
      'A step verify',
      'A step wrap-up',
    ]);
    expect(
      first?.branches.map(({ name, isCurrent, isComplete, waiting }) => [name, isCurrent, isComplete, waiting?.stepId]),
    ).toEqual([
      ['main', undefined, false, 'verify'],
      ['A', true, true, undefined],
    ]);
    expect(first).toMatchObject({
      workflow: { workflowId: 'team.bug_hunt', name: 'Bug hunt', hash: expect.stringMatching(/^sha256:/) },
      goal: 'Checkout fails on an empty cart',
      status: 'complete',
      gaps: [],
      preferences: { autonomy: 'guided' },
    });
    expect(first?.entries.flatMap(({ skipped }) => skipped.map(({ stepId }) => stepId))).toEqual([
      'on-call',
      'on-call',
    ]);
    expect(first?.entries[7]).toMatchObject({
      blockers: [{ code: 'MISSING_REQUIRED_OUTPUT' }],
      notes: [{ markdown: 'Looks good to me.', isSuperseded: false }],
    });
    expect(first?.entries[8]?.artifacts).toMatchObject([
      { kind: 'wr.verification_report', contentType: 'application/json', content: { checks: expect.any(Array) } },
    ]);
    expect([second?.status, second?.gaps.map(({ isOpen, severity, detail }) => [isOpen, severity, detail])]).toEqual([
      'in_progress',
      [
        [false, 'info', 'needs_user_approval'],
        [true, 'critical', 'needs_user_choice'],
        [true, 'critical', 'needs_user_approval'],
      ],
    ]);
    expect(second?.entries[1]?.preferences).toMatchObject([{ source: 'agent', autonomy: 'full_auto_never_stop' }]);
  });

  it('what the agent decided itself is listed in a report, but is not an open gap', async () => {
    const { report } = await hunted();
    const text = reportMarkdown(report);
    expect(text).toContain('2 open gaps');
    expect(text.match(/^- decided by the agent .*$/gm)).toHaveLength(1);
  });

  it('a step that was done again on a branch counts once among the steps done', async () => {
    const { report } = await hunted();
    expect(reportMarkdown(report)).toContain('5 steps done along branch A');
  });

  it('a report explains a skipped step by values that earlier steps set', async () => {
    const hunt = huntEngine();
    const begun = await hunt.start('team.bug_hunt', { goal: 'Checkout fails' });
    const triaged = await hunt.send(begun, { notes: 'An empty cart.', context: { isUrgent: false } });
    await hunt.send(triaged, { notes: 'The sum of nothing.' });
    const [run] = (await reportOf(hunt.services, sessionOf(begun))).sessions[0]?.runs ?? [];
    expect(run?.entries.flatMap(({ skipped }) => skipped.map(({ why }) => why))).toEqual([
      'because isUrgent is false.',
    ]);
  });

  it('a report says on which branch a gap was resolved', async () => {
    const hunt = huntEngine();
    const { start, send, show } = hunt;
    const begun = await start('test.modes', { goal: 'Release it' });
    const going = await send(begun, { notes: 'Go on.', mode: 'full_auto_never_stop' });
    const reported = await send(await send(await send(going, {}), {}), {});
    const gated = await send(reported, {});
    await send(await send(gated, { notes: 'Said.' }), { artifacts: [VERIFICATION] });
    await send(await show(gated), { notes: 'Said on another line.' });
    const [run] = (await reportOf(hunt.services, sessionOf(begun))).sessions[0]?.runs ?? [];
    const contract = run?.gaps.filter(({ category }) => category === 'contract_violation');
    expect(contract?.map(({ isOpen, resolvedOn }) => [isOpen, resolvedOn])).toContainEqual([true, ['main']]);
    const markdown = reportMarkdown(await reportOf(hunt.services, sessionOf(begun)));
    expect(markdown).toMatch(/Gap resolved at step \d .*\. It was: The required artifact of kind \S+ was not sent/);
  });

  it('a report of the same session is the same byte for byte and shows only the times of events', async () => {
    enforces('reports_deterministic');
    const [one, other] = [await hunted(), await hunted()];
    for (const format of FORMATS) {
      const written = format(one.report);
      expect(format(other.report)).toBe(written);
      expect(format(await reportOf(one.hunt.services, one.sessionId))).toBe(written);
      const last = one.report.sessions[0]?.lastAt ?? '';
      const times = [...written.matchAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d/g)].map(([time]) => time.replace(' ', 'T'));
      expect(times.filter((time) => time > last)).toEqual([]);
      expect(times).toContain(last.slice(0, 16));
    }
  });

  it('a branch shows the checkpoints that were made before it continued from them, in the order of events', async () => {
    enforces('reports_include_checkpoint_outputs');
    const hunt = huntEngine();
    const { start, send, save, show } = hunt;
    const first = await start('test.plain', { goal: 'Two lines' });
    const second = await send(first, { notes: 'First.' });
    await save(second, 'Before both.');
    const left = await send(second, { notes: 'One way.' });
    await save(left, 'On the first line.');
    await save(await show(second), 'Between the two.');
    await send(await show(second), { notes: 'The other way.' });
    const [run] = (await reportOf(hunt.services, sessionOf(first))).sessions[0]?.runs ?? [];
    const notes = new Map(
      run?.entries.map(({ nodeId, notes: said }) => [nodeId, said.map(({ markdown }) => markdown)]),
    );
    expect(run?.branches.map(({ name, line }) => [name, line.flatMap((nodeId) => notes.get(nodeId))])).toEqual([
      ['main', ['First.', 'Before both.', 'One way.', 'On the first line.']],
      ['A', ['First.', 'Before both.', 'Between the two.', 'The other way.']],
    ]);
    for (const text of ['Before both', 'Between the two', 'On the first line']) {
      expect(reportMarkdown(await reportOf(hunt.services, sessionOf(first)))).toContain(text);
    }
  });

  it('a report of a damaged session shows the verified part under a warning', async () => {
    enforces('reports_prefix_flagged');
    const { hunt, sessionId, report } = await hunted();
    const { logs } = hunt.services;
    const damage = { reason: 'segment_digest_mismatch', place: 'sessions/x', offset: 0 } as const;
    const damaged = (good: number): Store => ({
      ...hunt.services,
      logs: {
        open: async (id) =>
          (await logs.open(id)).map((log) => ({
            ...log,
            readEvents: async (append) =>
              log.appends.indexOf(append) < good ? log.readEvents(append) : err({ code: 'damaged', damage }),
          })),
      },
    });
    const part = await reportOf(damaged(3), sessionId);
    const [session] = part.sessions;
    expect(session?.salvage).toEqual({ health: 'corrupt_tail', lastEventIndex: (session?.events ?? 0) - 1 });
    expect(session?.timeline).toEqual(report.sessions[0]?.timeline.slice(0, session?.timeline.length));
    expect(reportMarkdown(part)).toContain(
      '> [!WARNING]\n> Only part of this session is shown: it is damaged after event',
    );
    expect(reportHtml(part)).toContain('<p class="banner" role="note">Only part of this session is shown');
    const request = { sessionIds: [sessionId], isRedacted: true, homes: [] };
    expect(await readReport({ ...exportServices(hunt.services), ...damaged(0) }, request)).toEqual(
      err({ code: 'damaged', damage }),
    );
  });

  it('every format shows that a run is closed until it is continued', async () => {
    enforces('closed_run_reopens');
    const store = memoryStore(sha256);
    const hunt = huntEngine({ store });
    const begun = await hunt.start('test.plain', { goal: 'Left alone' });
    const sessionId = sessionOf(begun);
    (await closeRuns({ ...hunt.services, marks: store.marks }, { sessionId, isUndone: false }))._unsafeUnwrap();
    const [md, html, json] = FORMATS;
    const closed = await reportOf(hunt.services, sessionId);
    expect(md?.(closed)).toContain('**in progress, closed** · ');
    expect(html?.(closed)).toContain('<span class="chip in_progress">in progress, closed</span>');
    expect(json?.(closed)).toContain('"isClosed": true');
    for (const format of [md, html]) expect(format?.(closed)).not.toContain('Now at');
    await hunt.send(begun, { notes: 'Went on.' });
    const reopened = await reportOf(hunt.services, sessionId);
    for (const format of [md, html]) expect(format?.(reopened)).not.toContain('closed');
    expect(json?.(reopened)).toContain('"isClosed": false');
  });

  it('one report can show several sessions', async () => {
    const hunt = huntEngine();
    const sessionIds = [await bugHunt(hunt, ''), await bugHunt(hunt, '')];
    const both = await readReport(
      { ...exportServices(hunt.services), ...hunt.services },
      { sessionIds, isRedacted: true, homes: [] },
    );
    const written = FORMATS.map((format) => format(both._unsafeUnwrap()));
    for (const id of sessionIds) for (const text of written) expect(text).toContain(id);
  });
});

const VERIFICATION = {
  kind: 'wr.verification_report',
  summary: 'It holds.',
  checks: [{ name: 'tests', outcome: 'pass', command: 'npm test', evidence: 'all green' }],
};

test('a report names the item of a round and the values of context, and hides secrets in both', async () => {
  const body = { title: 'Look', prompt: 'Look at {{item}}.' };
  const loop = (items: string) => ({ type: 'forEach', items, maxIterations: 5 });
  const steps = [
    { id: 'files', title: 'Files', type: 'loop', loop: loop('files'), body: [{ ...body, id: 'look' }] },
    { id: 'keys', title: 'Keys', type: 'loop', loop: loop('apiKeys'), body: [{ ...body, id: 'try' }] },
  ];
  const file = { id: 'test.items', name: 'Items', description: 'Loops over lists.', steps };
  const agent = engine({ listing: () => withFile(file) });
  const files = ['a.ts', { path: 'b.ts\n# Done' }];
  const context = { files, apiKeys: ['qX7vR2mK9sT4wZ1p'], dbPassword: 'hunter22', size: 3 };
  let reply = await agent.start('test.items', { context });
  for (const size of [null, 5, 6]) reply = await agent.send(reply, { notes: 'Seen.', context: { size } });
  const services = { ...exportServices(agent.services), ...agent.services };
  const request = { sessionIds: [sessionOf(reply)], homes: [] };
  const open = reportMarkdown((await readReport(services, { ...request, isRedacted: false }))._unsafeUnwrap());
  for (const words of ['round 1: "a.ts"', 'round 2: {"path"', 'size = 3', 'size removed', 'size = 5', 'hunter22']) {
    expect(open.replaceAll('\\', '')).toContain(words);
  }
  expect(open).not.toMatch(/^# Done/m);
  const redacted = (await readReport(services, { ...request, isRedacted: true }))._unsafeUnwrap();
  for (const written of [JSON.stringify(redacted), reportMarkdown(redacted), reportHtml(redacted)]) {
    expect(written).not.toMatch(/hunter22|qX7vR2mK9sT4wZ1p/);
    expect(written).toContain('a.ts');
  }
});

test('a report ends with what is signed: the log since which event and by which key, and answers of people', async () => {
  enforces('log_signatures');
  const steps = [{ id: 'one', title: 'One', prompt: 'Do it.' }];
  const here = engine({ listing: () => withFile({ id: 'test.sign', name: 'Sign', description: 'Signs.', steps }) });
  const begun = await here.start('test.sign', {});
  const sessionId = sessionOf(begun);
  const { current } = (await here.services.keyring.open())._unsafeUnwrap();
  const key = storeKeyOf(current).publicKey;
  const services = { ...exportServices(here.services), ...here.services, logKeys: async () => [key] };
  const request = { sessionIds: [sessionId], isRedacted: false, homes: [] };
  const report = (await readReport(services, request))._unsafeUnwrap();
  const line = `The log of ${sessionId} is signed by this WorkRail store from event 0 on, with key ${key.keyid.slice(0, 16)}.`;
  for (const text of [reportMarkdown(report), reportHtml(report)]) {
    expect(text).toContain(line);
    expect(text).toContain('Answers given by people: none.');
  }
  const unknown = { ...services, logKeys: async () => [] };
  const elsewhere = reportMarkdown((await readReport(unknown, request))._unsafeUnwrap());
  expect(elsewhere).toContain('not signed by a key that is known here');
  const silent = (await readReport({ ...exportServices(here.services), ...here.services }, request))._unsafeUnwrap();
  expect(reportHtml(silent)).not.toContain('<h2>Signatures</h2>');
});
