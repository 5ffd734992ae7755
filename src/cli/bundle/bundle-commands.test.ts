import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { enforces } from '../../../test/enforces.ts';
import { HEALTHY } from '../../../test/examples/audits.ts';
import { exportServices } from '../../../test/examples/bundles.ts';
import { engine } from '../../../test/examples/engine.ts';
import { sharedSession } from '../../../test/examples/shared-session.ts';
import { numberedSession } from '../../../test/store-folder.ts';
import { createBundleFile, readBundleFile } from '../../adapters/bundle.ts';
import { isSealed, openSealed, sealOutput } from '../../adapters/sealed-bundle.ts';
import { acceptSession } from '../../app/upkeep/accept-session.ts';
import { reportSchema } from '../../core/report/report.ts';
import { encodeUtf8 } from '../../core/text/utf8.ts';
import { commandShape } from '../command-shape.ts';
import type { BundleAccess } from '../program.ts';
import { exportCommand } from './export.ts';
import { importCommand } from './import.ts';

const exportShape = commandShape('export', exportCommand.data);
const importShape = commandShape('import', importCommand.data);

describe('export', () => {
  it('export writes a bundle that import accepts, and says what it contains', async () => {
    const { run, folder, sessionId } = await world();
    const file = join(folder, 'session.json');
    const { exitCode, out, talk } = await run('export', sessionId, '--as', 'bundle', '-o', file);
    expect([exitCode, talk]).toEqual([0, `Next: workrail import ${file} --dry-run\n`]);
    expect(out).toMatch(new RegExp(`^Wrote ${sessionId} to ${file} \\(32 events, 1 artifact, [0-9.]+ kB\\)\\.\n`));
    expect(readdirSync(folder)).toEqual(['session.json']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const odd = join(folder, 'a b;touch x.json');
    const told = await run('export', sessionId, '--as', 'bundle', '-o', odd);
    expect(told.talk).toBe(`Next: workrail import '${odd}' --dry-run\n`);

    const there = await world({ isEmpty: true });
    expect(await there.run('import', file, '--dry-run')).toMatchObject({
      exitCode: 0,
      out: `The bundle is valid; nothing was written. Would import ${sessionId}: 2 runs, 32 events, 1 artifact.\n`,
      talk: `Next: workrail import ${file}\n`,
    });
    expect(await there.run('import', file)).toMatchObject({
      exitCode: 0,
      out: `Imported ${sessionId}: 2 runs, 32 events, 1 artifact.\nNobody has accepted it, so agents cannot resume it. To accept it, in a terminal: workrail session accept ${sessionId}\n`,
      talk: `Next: workrail session accept ${sessionId}\n`,
    });
    expect((await there.run('import', file, '--dry-run')).out).toContain('importing it writes nothing');
    expect((await run('import', file, '--dry-run')).out).toContain(
      `${sessionId} as a new session, because that id is already in use here`,
    );
  });

  it('export writes a bundle to a pipe, and never to a terminal', async () => {
    const { run, sessionId, streamed } = await world();
    expect(await run('export', sessionId)).toMatchObject({ exitCode: 0, out: '' });
    expect(JSON.parse(streamed())).toMatchObject({ bundleSchemaVersion: 1, session: { sessionId } });
    const onScreen = await run('export', sessionId, { terminals: ['output'] });
    expect(onScreen).toMatchObject({ exitCode: 2, out: '', talk: expect.stringContaining('-o FILE') });
    expect((await run('export', sessionId, '--as', 'pdf')).exitCode).toBe(2);
    expect((await run('export')).exitCode).toBe(2);
    expect((await run('export', 'nowhere', '-o', 'x')).exitCode).toBe(3);
  });

  it('export and import print their published shapes under --json', async () => {
    const { run, folder, sessionId } = await world();
    const file = join(folder, 'session.json');
    const exported = exportShape.parse(JSON.parse((await run('export', sessionId, '-o', file, '--json')).out));
    expect(exported).toMatchObject({ ok: true, data: { sessionId, file, events: 32 } });
    const imported = importShape.parse(JSON.parse((await run('import', file, '--json', '--dry-run')).out));
    expect(imported).toMatchObject({ ok: true, data: { isDryRun: true, from: sessionId } });
    expect(exportShape.parse(JSON.parse((await run('export', sessionId, '--json')).out))).toMatchObject({ ok: false });
  });

  it('export writes a report: Markdown to the terminal, HTML to a file', async () => {
    enforces('cli_stdout_data_stderr_talk', 'cli_json_everywhere');
    const { run, sessionId, streamed, folder } = await world();
    const onScreen = await run('export', sessionId, '--as', 'md', { terminals: ['output'] });
    expect(onScreen).toMatchObject({ exitCode: 0, out: '', talk: 'Next: check the report before you share it\n' });
    expect(streamed()).toMatch(/^# To be shared\n/);
    expect(await run('export', sessionId, '--as', 'html', { terminals: ['output'] })).toMatchObject({
      exitCode: 2,
      talk: expect.stringContaining('--as html -o FILE'),
    });
    const file = join(folder, 'report.html');
    expect(await run('export', sessionId, '--as', 'html', '-o', file)).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/ to .*report\.html \([0-9.]+ kB\)\.\nHidden: workspace path \(1\)\.\n$/),
    });
    expect([readdirSync(folder), readFileSync(file, 'utf8').slice(0, 15)]).toEqual([
      ['report.html'],
      '<!doctype html>',
    ]);
    const told = exportShape.parse(
      JSON.parse((await run('export', sessionId, '--as', 'json', '--json', '--no-redact', '-o', file, '--force')).out),
    );
    expect(told).toMatchObject({ data: { format: 'json', sessionIds: [sessionId], isRedacted: false, hidden: [] } });
    expect(reportSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).sessions[0]?.runs).toHaveLength(2);
    expect((await run('export', sessionId, '--as', 'md', '--json')).exitCode).toBe(2);
  });

  it('a report holds several sessions, and a bundle exactly one', async () => {
    const { run, sessionId, streamed, folder } = await world();
    expect((await run('export', sessionId, sessionId.slice(-6), '--as', 'json')).exitCode).toBe(0);
    expect(reportSchema.parse(JSON.parse(streamed())).sessions.map((session) => session.sessionId)).toEqual([
      sessionId,
    ]);
    const twice = await run('export', sessionId, sessionId, '-o', join(folder, 'x.json'));
    expect(twice).toMatchObject({ exitCode: 2, talk: expect.stringContaining('A bundle holds one session.') });
    expect((await run('export', sessionId, 'nowhere', '--as', 'md')).exitCode).toBe(3);
  });

  it('export leaves no partial file if it cannot write', async () => {
    const { run, folder, sessionId } = await world();
    const { exitCode, talk } = await run('export', sessionId, '-o', join(folder, 'missing', 'session.json'));
    expect([exitCode, talk]).toEqual([1, expect.stringContaining('ENOENT')]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('import', () => {
  it('import names what is wrong with a file and exits with code 4', async () => {
    const { run, folder } = await world({ isEmpty: true });
    const file = join(folder, 'session.json');
    writeFileSync(file, '{"bundleSchemaVersion":7}');
    const { exitCode, out, talk } = await run('import', file);
    expect([exitCode, out, talk]).toEqual([
      4,
      '',
      expect.stringMatching(/^BUNDLE_UNSUPPORTED_VERSION: .*version 7.*\nFix: Update/),
    ]);
    const told = importShape.parse(JSON.parse((await run('import', file, '--json')).out));
    expect(told).toMatchObject({ ok: false, error: { code: 'BUNDLE_UNSUPPORTED_VERSION', details: { version: '7' } } });
    expect((await run('import', join(folder, 'none.json'))).exitCode).toBe(3);
  });

  it('import of a session that was accepted says that it is accepted', async () => {
    const { run, folder, sessionId } = await world();
    const there = await world({ isEmpty: true });
    const file = join(folder, 'session.json');
    await run('export', sessionId, '-o', file);
    await there.run('import', file);
    expect((await there.run('import', file)).out).toContain('Nobody has accepted it');
    await acceptSession(there.services, sessionId);
    for (const more of [[], ['--no-accept']]) {
      expect(await there.run('import', file, ...more)).toMatchObject({
        exitCode: 0,
        out: `Nothing is new: this session was imported before as ${sessionId}. Nothing was written.\nIt is accepted: agents can resume it.\n`,
        talk: `Next: workrail session resume ${sessionId}\n`,
      });
    }
  });

  it('a newer export without a terminal writes nothing until it is an update or a copy', async () => {
    enforces('reimport_offers_update');
    const { run, folder, sessionId, goOn } = await world();
    const there = await world({ isEmpty: true });
    const [file, newer] = [join(folder, 'session.json'), join(folder, 'newer.json')];
    await run('export', sessionId, '-o', file);
    await there.run('import', file);
    await goOn();
    await run('export', sessionId, '-o', newer);
    const dry = await there.run('import', newer, '--dry-run');
    expect([dry.exitCode, dry.talk]).toEqual([0, `Next: workrail import ${newer} --update\n`]);
    expect(dry.out).not.toContain('Would import');
    const asked = await there.run('import', newer);
    expect([asked.exitCode, asked.out]).toEqual([5, '']);
    expect(asked.talk).toContain(`was imported before as ${sessionId} and not changed here`);
    expect(asked.talk).toContain(
      `To add what is new: workrail import ${newer} --update. To make a second session: workrail import ${newer} --copy.`,
    );
    expect((await there.services.sessions.list())._unsafeUnwrap()).toEqual([sessionId]);
    expect((await there.run('import', newer, '--update', '--copy')).exitCode).toBe(2);
    const updated = await there.run('import', newer, '--update');
    expect([updated.exitCode, updated.out]).toEqual([0, expect.stringContaining(`Updated ${sessionId}: `)]);
    await goOn();
    await run('export', sessionId, '-o', newer, '--force');
    const copied = await there.run('import', newer, '--copy');
    expect([copied.exitCode, copied.out]).toEqual([0, expect.stringContaining(`Imported ${sessionId} as sess_`)]);
    expect((await there.services.sessions.list())._unsafeUnwrap()).toHaveLength(2);
  });

  it('an export that has nothing new makes a second session only with --copy, also if a newer one was imported', async () => {
    enforces('reimport_offers_update');
    const { run, folder, sessionId, goOn } = await world();
    const there = await world({ isEmpty: true });
    const [file, newer] = [join(folder, 'session.json'), join(folder, 'newer.json')];
    await run('export', sessionId, '-o', file);
    await goOn();
    await run('export', sessionId, '-o', newer);
    await there.run('import', newer);
    const sessions = async () => (await there.services.sessions.list())._unsafeUnwrap().length;
    for (const known of [newer, file]) {
      const { exitCode, out } = await there.run('import', known);
      expect([exitCode, out]).toEqual([
        0,
        expect.stringContaining(`Nothing is new: this session was imported before as ${sessionId}.`),
      ]);
      expect((await there.run('import', known, '--dry-run')).out).toContain('Nothing is new in this file');
    }
    expect(await sessions()).toBe(1);
    expect((await there.run('import', file, '--copy')).out).toContain(`Imported ${sessionId} as sess_`);
    expect(await sessions()).toBe(2);
  });

  it('import does not read a file that is too large for a bundle', async () => {
    enforces('import_limits');
    const { run, folder } = await world({ isEmpty: true });
    const file = join(folder, 'large.json');
    writeFileSync(file, '');
    truncateSync(file, 2 ** 30);
    expect(await run('import', file)).toMatchObject({
      exitCode: 4,
      talk: expect.stringMatching(
        /^BUNDLE_INVALID_FORMAT: The file has 1073741824 bytes; a bundle can have 268435456\./,
      ),
    });
  });
});

describe('an encrypted bundle', () => {
  const words = 'four random words here';
  const typing = (...typed: (string | undefined)[]) => ({
    terminals: ['input', 'output', 'error'] as const,
    ask: { secret: async () => typed.shift(), confirm: async () => false, write: async () => undefined },
  });

  it('an encrypted bundle shows nothing of the session and is imported with its passphrase only', async () => {
    enforces('encrypted_bundle');
    const { run, folder, sessionId } = await world();
    const file = join(folder, 'session.sealed');
    const made = await run('export', sessionId, '--encrypt', '-o', file, typing(words, words));
    expect(made).toMatchObject({ exitCode: 0, out: expect.stringContaining('It is encrypted.') });
    expect(readFileSync(file).toString('latin1')).not.toMatch(/sess_|eventIndex|bundleSchemaVersion/);
    const key = join(folder, 'key.txt');
    writeFileSync(key, `${words}\nnot read\n`);
    const there = await world({ isEmpty: true });
    const [right] = [await there.run('import', file, '--dry-run', '--passphrase-file', key, '--json')];
    expect(importShape.parse(JSON.parse(right.out))).toMatchObject({ data: { from: sessionId, isEncrypted: true } });
    const wrong = await there.run('import', file, '--dry-run', typing('four random words her3'));
    expect([wrong.exitCode, wrong.talk]).toEqual([4, expect.stringContaining('The passphrase is wrong')]);
    const bytes = readFileSync(file);
    for (const at of [60, bytes.length >> 1, bytes.length - 1]) {
      const changed = join(folder, `changed-${at}`);
      writeFileSync(changed, bytes.with(at, (bytes[at] ?? 0) ^ 1));
      const { exitCode } = await there.run('import', changed, '--dry-run', '--passphrase-file', key);
      expect([at, exitCode]).toEqual([at, 4]);
    }
    const costly = join(folder, 'costly');
    writeFileSync(costly, bytes.toString('latin1').replace('"N":16384', '"N":99999999'), 'latin1');
    const { talk } = await there.run('import', costly, '--passphrase-file', key);
    expect(talk).toContain('BUNDLE_UNSUPPORTED_VERSION');
  });

  it.each([
    ['bundle', []],
    ['bundle', ['--encrypt']],
    ['html', []],
    ['md', ['--json']],
  ])('export --as %s does not replace a file of the user without --force (%j)', async (format, more) => {
    enforces('export_keeps_files');
    const { run, folder, sessionId } = await world();
    const file = join(folder, 'thesis.txt');
    writeFileSync(file, 'mine');
    const refused = await run('export', sessionId, '--as', format, '-o', file, ...more);
    expect([refused.exitCode, readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual([2, 'mine', ['thesis.txt']]);
    expect(`${refused.talk}${refused.out}`).toContain(`${file} already exists and was not changed.`);
    expect(`${refused.talk}${refused.out}`).toContain('Choose another file, or add --force to replace it.');
    if (more.includes('--encrypt')) return;
    expect((await run('export', sessionId, '--as', format, '-o', file, ...more, '--force')).exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toBe('mine');
  });

  it('a passphrase file that is a folder or missing is named as such', async () => {
    const { run, folder, sessionId } = await world();
    const asked = ['export', sessionId, '--encrypt', '-o', join(folder, 'x.json'), '--passphrase-file'] as const;
    const folderGiven = await run(...asked, folder);
    expect(folderGiven).toMatchObject({
      exitCode: 2,
      talk: expect.stringContaining(`The passphrase file ${folder} could not be read (it is a folder).`),
    });
    const missing = await run(...asked, join(folder, 'none'));
    expect(missing.talk).toContain(`The passphrase file ${join(folder, 'none')} does not exist.`);
    expect(missing.talk).not.toContain('bundle written by');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('a passphrase is typed twice, is long enough, and is never asked for without a terminal', async () => {
    const { run, folder, sessionId } = await world();
    const file = join(folder, 'x');
    const asked = ['export', sessionId, '--encrypt', '-o', file] as const;
    expect(await run(...asked)).toMatchObject({ exitCode: 5, talk: expect.stringContaining('--passphrase-file') });
    expect(await run(...asked, typing(words, 'something else'))).toMatchObject({ exitCode: 2 });
    expect(await run(...asked, typing(undefined))).toMatchObject({ exitCode: 130 });
    writeFileSync(join(folder, 'short'), 'short\n');
    const short = await run(...asked, '--passphrase-file', join(folder, 'short'));
    expect([short.exitCode, short.talk]).toEqual([2, expect.stringContaining('too short')]);
    expect(await run('export', sessionId, '--as', 'md', '--encrypt')).toMatchObject({ exitCode: 2 });
    expect(readdirSync(folder)).toEqual(['short']);
  });
});

describe('a report as PDF', () => {
  it('is the page, printed by a browser that is installed', async () => {
    const { run, folder, sessionId } = await world({ isPrinting: true });
    const file = join(folder, 'r.pdf');
    const made = await run('export', sessionId, '--as', 'pdf', '-o', file);
    expect([made.exitCode, readFileSync(file, 'utf8').slice(0, 5)]).toEqual([0, '%PDF-']);
  });

  it('says what to do where no browser can print it, and writes nothing', async () => {
    const { run, folder, sessionId } = await world();
    const file = join(folder, 'r.pdf');
    const made = await run('export', sessionId, '--as', 'pdf', '-o', file);
    expect(made.exitCode).toBe(2);
    expect(JSON.stringify(made)).toContain('No browser was found that can print a PDF.');
    expect(JSON.stringify(made)).toContain('--as html');
    expect(readdirSync(folder)).toEqual([]);
  });
});

async function world({ isEmpty = false, isPrinting = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'workrail-exchange-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { services, ...here } = engine();
  const shared = isEmpty ? undefined : await sharedSession({ services, ...here });
  const sessionId = shared?.sessionId ?? HEALTHY.sessionId;
  let tip = shared?.tip;
  const goOn = async () => {
    tip = tip && (await here.send(tip, { notes: 'Went on.' }));
  };
  const pieces: Uint8Array[] = [];
  const stream = {
    write: async (piece: Uint8Array) => ok(void pieces.push(piece)),
    finish: async () => ok(undefined),
    abandon: async () => undefined,
  };
  const bundleAccess: BundleAccess = {
    homes: ['/data/ana'],
    services: {
      ...exportServices(services),
      ...services,
      ids: { ...services.ids, session: () => numberedSession(7) },
      bin: { list: async () => ok([]) },
    },
    input: readBundleFile,
    pdf: async (html) => (isPrinting ? ok(encodeUtf8(`%PDF-1.4 ${html.length}`)) : err({ code: 'no_browser' })),
    output: async (file, options) => (file === undefined ? ok(stream) : createBundleFile(file, options)),
    // The real cost would make the test slow.
    seal: { isSealed, open: openSealed, output: (out, words) => sealOutput(out, words, { N: 2 ** 14, r: 8, p: 1 }) },
  };
  type Fake = Parameters<typeof runFake>[0];
  const run = async (...args: (string | Partial<Fake>)[]) => {
    const argv = args.filter((arg) => typeof arg === 'string');
    const more = args.find((arg) => typeof arg === 'object') ?? {};
    const ran = await runFake({ argv, audits: [{ ...HEALTHY, sessionId }], bundleAccess, ...more });
    // A busy machine takes so long that progress is shown.
    return { ...ran, talk: ran.talk.replaceAll(/^[a-z ]+: \d+ of \d+\n/gm, '') };
  };
  return { run, folder, sessionId, services, goOn, streamed: () => Buffer.concat(pieces).toString() };
}
