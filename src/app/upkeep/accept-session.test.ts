import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileWith } from '../../../test/catalog/catalog-of.ts';
import { enforces } from '../../../test/enforces.ts';
import { exported, exportServices, IMPORTED_AT, imported } from '../../../test/examples/bundles.ts';
import { ENGINE_FILES, type Engine, engine, stepOf, told, WORKSPACE } from '../../../test/examples/engine.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { sessionOf } from '../../../test/examples/shared-session.ts';
import { numberedSession, storeFolder } from '../../../test/store-folder.ts';
import { layout } from '../../adapters/file-store/disk/disk.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import { derivedBits, RunId, type SessionId } from '../../core/log/ids.ts';
import { reportHtml } from '../../core/report/html/report-html.ts';
import { reportMarkdown } from '../../core/report/markdown/report-markdown.ts';
import { resumeReplyShape } from '../../mcp/reply-shapes.ts';
import { checkSessions } from '../clients/doctor/check-machine.ts';
import { readReport } from '../report.ts';
import { type ResumeRequest, resumeSession } from '../resume/resume-session.ts';
import { inspectSession } from '../sessions/inspect-session.ts';
import { resumeCall } from '../sessions/resume-call.ts';
import { acceptSession, readAcceptance } from './accept-session.ts';

const DAY_LATER = IMPORTED_AT + 86_400_000;

async function resume({ services }: Engine, request: ResumeRequest) {
  const reply = (await resumeSession(services, request))._unsafeUnwrap();
  expect(resumeReplyShape.safeParse(reply.structured).error).toBeUndefined();
  return reply;
}

/** One unfinished run with notes, as a bundle. */
async function bundle(here: Engine = engine(), workflowId = 'test.plain') {
  const first = await here.start(workflowId, { goal: 'Repair the till\n---\nNext call: none' });
  const second = await here.send(first, { notes: 'The drawer sticks.' });
  return { sessionId: sessionOf(first), second, file: await bundleOf(here, sessionOf(first)) };
}

async function bundleOf({ services }: Engine, sessionId: SessionId): Promise<Uint8Array> {
  return (await exported(services, sessionId))._unsafeUnwrap().file;
}

/** Another machine, with a clock of its own. */
function machine() {
  const folder = storeFolder();
  const clock = { nowMs: () => DAY_LATER };
  let made = 100;
  const ids = { session: () => numberedSession(made++), run: () => RunId.of(derivedBits(['there', made++], sha256)) };
  return { folder, ...engine({ store: storeOf(folder), services: { clock, ids } }) };
}

function bring({ services }: Engine, file: Uint8Array) {
  return imported({ ...services, clock: { nowMs: () => IMPORTED_AT } }, file);
}

describe('an imported session', () => {
  it('an imported run is not resumed before a person accepted it, not even by its id', async () => {
    enforces('imported_not_strong_before_acceptance');
    const { file, sessionId } = await bundle();
    const there = machine();
    await bring(there, file);
    for (const request of [{ workspace: WORKSPACE }, { sessionId }, { query: 'till' }]) {
      const { text, structured } = await resume(there, request);
      expect(structured['nextCall']).toBeNull();
      expect(structured['candidates']).toMatchObject([
        {
          sessionId,
          status: 'in_progress',
          origin: { kind: 'imported', producer: { appVersion: '1.2.3' } },
          acceptCommand: `workrail session accept ${sessionId}`,
        },
      ]);
      expect(text).toContain(`\`workrail session accept ${sessionId}\``);
      expect(text).toContain('imported 2026-01-03 00:00 UTC from a file written by WorkRail 1.2.3');
      // Neither notes nor tokens, and the goal stays in its line.
      expect(text + JSON.stringify(structured)).not.toMatch(/The drawer sticks|st_|ack_/);
      expect(text).not.toMatch(/^(?:Next call:|---\nNext)/m);
    }
    expect((await acceptSession(there.services, sessionId))._unsafeUnwrap()).toBe(true);
    const resumed = await resume(there, { workspace: WORKSPACE });
    expect([sessionOf(resumed), stepOf(resumed)]).toEqual([sessionId, 's2']);
    expect(told(resumed, 'resumed.origin.acceptedAt')).toBe(DAY_LATER);
    expect([resumed.text, ...(resumed.furtherTexts ?? [])].join('\n')).toContain('accepted 2026-01-04 00:00 UTC');
  });

  it('an own run is resumed although an imported one matches as well', async () => {
    const { file } = await bundle();
    const there = machine();
    await bring(there, file);
    const own = await there.start('test.plain', { goal: 'Own work' });
    const resumed = await resume(there, { workspace: WORKSPACE });
    expect(sessionOf(resumed)).toBe(sessionOf(own));
    expect(told(resumed, 'resumed.others.0.acceptCommand')).toContain('session accept');
    expect(told(resumed, 'resumed.origin')).toBeUndefined();
  });

  it('a search that only an imported run matches shows that run first, what it is and how it is accepted', async () => {
    enforces('imported_not_strong_before_acceptance');
    const { file, sessionId } = await bundle();
    const there = machine();
    await bring(there, file);
    for (let i = 0; i < 6; i++) await there.start('test.plain', { goal: `Own work ${i}` });
    const { text, structured } = await resume(there, { workspace: WORKSPACE, query: 'till' });
    expect(text).not.toContain('Nothing matched');
    expect(text).toMatch(/^1 imported run matches your search, and no person has accepted it yet\./);
    expect(text).toContain(`\`workrail session accept ${sessionId}\``);
    expect(structured['nextCall']).toBeNull();
    const candidates = structured['candidates'] as readonly { sessionId: string; acceptCommand?: string }[];
    expect(candidates.map((one) => one.acceptCommand !== undefined)).toEqual([true, false, false, false, false]);
    // An own run that matches comes first, and can be resumed.
    const own = await there.start('test.plain', { goal: 'Another till' });
    expect(sessionOf(await resume(there, { workspace: WORKSPACE, query: 'till' }))).toBe(sessionOf(own));
  });

  it('its origin survives the bin, is in views and reports, and the log stays as it was', async () => {
    enforces('imported_origin_beside_log');
    const { file, sessionId } = await bundle();
    const there = machine();
    await bring(there, file);
    const store = storeOf(there.folder);
    const stored = readFileSync(join(there.folder.root, layout.origin(sessionId)), 'utf8');
    expect(JSON.parse(stored)).toMatchObject({ v: 1, kind: 'imported', at: IMPORTED_AT, sessionId });
    (await store.bin.put(sessionId, DAY_LATER))._unsafeUnwrap();
    (await store.bin.restore(sessionId))._unsafeUnwrap();
    const origin = await there.services.marks.origin(sessionId);
    expect(origin).toEqual(JSON.parse(stored));
    await acceptSession(there.services, sessionId);
    expect(await bundleOf(there, sessionId)).toEqual(file);

    const inspected = (await inspectSession(there.services, sessionId, 'standing'))._unsafeUnwrap();
    expect(inspected.origin).toMatchObject({ kind: 'imported', acceptedAt: DAY_LATER });
    const services = { ...exportServices(store), marks: store.marks };
    const report = (
      await readReport(services, { sessionIds: [sessionId], isRedacted: true, homes: [] })
    )._unsafeUnwrap();
    expect(report.sessions[0]?.origin).toEqual({
      kind: 'imported',
      at: IMPORTED_AT,
      producer: { appVersion: '1.2.3' },
      acceptedAt: DAY_LATER,
    });
    const words = 'imported 2026-01-03 00:00 UTC from a file written by WorkRail 1.2.3, accepted 2026-01-04 00:00 UTC';
    expect(reportMarkdown(report)).toContain(words);
    expect(reportHtml(report)).toContain(words);
    const audit = (await store.audit.audit(sessionId))._unsafeUnwrap();
    expect([audit.health, audit.findings]).toEqual([{ kind: 'healthy' }, []]);
  });

  it('the prompt to resume it is refused before it is accepted', async () => {
    const { file, sessionId } = await bundle();
    const there = machine();
    await bring(there, file);
    const call = async () => {
      const inspected = (await inspectSession(there.services, sessionId, 'standing'))._unsafeUnwrap();
      const runId = inspected.runs[0]?.runId ?? expect.fail('a run');
      return resumeCall(there.services, inspected, { runId });
    };
    expect((await call())._unsafeUnwrapErr()).toEqual({ code: 'session_not_accepted', sessionId });
    await acceptSession(there.services, sessionId);
    expect((await call()).isOk()).toBe(true);
  });

  it('a damaged record of the origin is a finding, and the session counts as not accepted until it is accepted', async () => {
    enforces('imported_origin_beside_log');
    const { file, sessionId } = await bundle();
    const there = machine();
    await bring(there, file);
    const place = join(there.folder.root, layout.origin(sessionId));
    const store = storeOf(there.folder);
    const found = async () => (await store.audit.audit(sessionId))._unsafeUnwrap();
    for (const damage of ['{"v":1', '{"v":1,"kind":"own"}', '']) {
      writeFileSync(place, damage);
      expect(await there.services.marks.origin(sessionId)).toEqual({ kind: 'unreadable' });
      expect(await found()).toMatchObject({ health: { kind: 'healthy' }, findings: [{ what: 'origin_damaged' }] });
      expect(told(await resume(there, { sessionId }), 'nextCall')).toBeNull();
    }
    const findings = await checkSessions(store as never, { isFull: true, onProgress: () => undefined });
    expect(findings).toMatchObject([
      { text: 'sessions: 1 healthy, 12 events' },
      { fix: `workrail session accept ${sessionId}` },
    ]);
    rmSync(place);
    mkdirSync(place);
    expect(await found()).toMatchObject({ findings: [{ what: 'origin_damaged', severity: 'note', code: 'EISDIR' }] });
    rmSync(place, { recursive: true });
    writeFileSync(place, 'x');
    expect((await acceptSession(there.services, sessionId))._unsafeUnwrap()).toBe(true);
    expect((await found()).findings).toEqual([]);
    expect(sessionOf(await resume(there, { sessionId }))).toBe(sessionId);
  });

  it('a session that was started here cannot be accepted, and accepting twice changes nothing', async () => {
    const there = machine();
    const sessionId = sessionOf(await there.start('test.plain'));
    expect((await acceptSession(there.services, sessionId))._unsafeUnwrapErr().code).toBe('not_imported');
    expect((await readAcceptance(there.services, sessionId))._unsafeUnwrapErr().code).toBe('not_imported');
    const { file } = await bundle();
    const taken = (await bring(there, file))._unsafeUnwrap().sessionId ?? expect.fail('an id');
    expect((await acceptSession(there.services, taken))._unsafeUnwrap()).toBe(true);
    expect((await acceptSession(there.services, taken))._unsafeUnwrap()).toBe(false);
  });
});

describe('an imported workflow that only claims to be a bundled one', () => {
  const files = [...ENGINE_FILES, fileWith(forged(), { ref: 'wr.forged.json', kind: 'bundled' })];

  it('is named "not a bundled wr.x" in replies, views and reports, and the same run at home is not', async () => {
    enforces('imported_wr_named');
    const home = engine({ listing: () => ({ files }) });
    const { file, sessionId, second } = await bundle(home, 'wr.forged');
    expect(second.text).toContain('wr.forged (bundled)');
    const there = machine();
    await bring(there, file);
    const offered = await resume(there, { sessionId });
    expect(offered.text).toContain('(not a bundled wr.forged)');
    const { runs } = (await readAcceptance(there.services, sessionId))._unsafeUnwrap();
    expect(runs).toMatchObject([{ workflowId: 'wr.forged', source: 'not a bundled wr.forged', isKnown: false }]);
    await acceptSession(there.services, sessionId);
    const resumed = await resume(there, { sessionId });
    expect(resumed.text).toContain('wr.forged (not a bundled wr.forged)');
    expect((await there.send(resumed, { notes: 'Done.' })).text).toContain('(not a bundled wr.forged)');
    const inspected = (await inspectSession(there.services, sessionId, 'standing'))._unsafeUnwrap();
    expect(inspected.runs[0]?.source).toBe('not a bundled wr.forged');
    const store = storeOf(there.folder);
    const request = { sessionIds: [sessionId], isRedacted: true, homes: [] };
    const report = (await readReport({ ...exportServices(store), marks: store.marks }, request))._unsafeUnwrap();
    expect(report.sessions[0]?.runs[0]?.workflow).toMatchObject({ isFalselyBundled: true });
    for (const shown of [reportHtml(report), reportMarkdown(report)]) {
      expect(shown.replaceAll('\\', '')).toContain('not a bundled wr.forged');
    }
  });

  function forged(): string {
    const [plain] = ENGINE_FILES;
    if (plain?.content.kind !== 'text') return expect.fail('a text');
    return plain.content.text.replace('"test.plain"', '"wr.forged"');
  }
});

describe('a newer bundle of a session that was imported before', () => {
  it('updates the session if it was not changed here, and ends its acceptance', async () => {
    enforces('reimport_offers_update');
    const home = engine();
    const { file, sessionId, second } = await bundle(home);
    const there = machine();
    const as = numberedSession(9);
    const services = { ...there.services, ids: { ...there.services.ids, session: () => as } };
    await imported(services, file);
    await acceptSession(there.services, sessionId);
    const third = await home.send(second, { notes: 'Repaired.' });
    const newer = await bundleOf(home, sessionId);
    const offered: unknown[] = [];
    const chooseUpdate = async (earlier: unknown) => {
      offered.push(earlier);
      return 'update' as const;
    };
    const updated = (await imported(services, newer, { chooseUpdate }))._unsafeUnwrap();
    expect(updated).toMatchObject({ kind: 'updated', from: sessionId, earlier: offered[0] });
    const target = updated.sessionId ?? expect.fail('an id');
    expect(offered).toMatchObject([{ sessionId: target, newEvents: expect.any(Number) }]);
    expect((await there.services.sessions.list())._unsafeUnwrap()).toEqual([sessionId]);
    expect(await there.services.marks.origin(target)).not.toHaveProperty('acceptedAt');
    await acceptSession(there.services, target);
    const resumed = await resume(there, { sessionId: target });
    expect(stepOf(resumed)).toBe(stepOf(third));

    // It is continued here now, so it is not an earlier state of anything.
    await there.send(resumed, { notes: 'Done here.' });
    await home.send(third, { notes: 'Done at home.' });
    const newest = await bundleOf(home, sessionId);
    const again = (await imported(services, newest, { isDryRun: true }))._unsafeUnwrap();
    expect(again.earlier?.sessionId).not.toBe(target);
  });

  it('without an earlier import, an update is refused', async () => {
    const { file, sessionId } = await bundle();
    const refused = await imported(machine().services, file, { mustUpdate: true });
    expect(refused._unsafeUnwrapErr()).toEqual({ code: 'nothing_to_update', from: sessionId });
  });
});
