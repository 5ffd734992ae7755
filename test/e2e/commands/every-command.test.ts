import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandName } from '../../../src/cli/command.ts';
import { COMMANDS } from '../../../src/cli/command-list.ts';
import { commandShapes } from '../../../src/cli/command-shape.ts';
import { withoutProgress } from '../../cli/without-progress.ts';
import { enforces } from '../../enforces.ts';
import { drawnSeed, isLong } from '../../volume.ts';
import { runSmall } from '../small-program.ts';
import { HOSTILE, type HostileMachine, hostileMachine, OBEYED, TYPED } from './hostile-machine.ts';

const COMMAND_SHAPES = await commandShapes();

type Form = 'text' | 'json';
/** What is typed, what it ends with, and as what; as either unless told. */
type Row = { readonly typed: readonly string[]; readonly exitCode?: number; readonly form?: Form };

let machine: HostileMachine;
beforeAll(async () => {
  machine = await hostileMachine();
});
afterAll(() => {
  machine.remove();
});

const SESSION = '<session>';
const BUNDLE = `bundle ${TYPED}.json`;
const PAGE = `page ${TYPED}.html`;

/** In this order on one machine: what changes something is typed once, and built upon. */
const ROWS: readonly Row[] = [
  row('status'),
  row('waiting'),
  row('answer zzzz', { exitCode: 5 }),
  row('session list'),
  row(`session show ${SESSION}`),
  row(`attest ${SESSION} unit`, { exitCode: 3 }),
  row('session tree --verbose'),
  row('session notes'),
  row(`session diff ${SESSION} A main`),
  row('session resume'),
  row('session resume --at 1', { form: 'text' }),
  row('search Goal Notes'),
  row('session verify --verbose'),
  { typed: ['export', SESSION, '--as', 'md'], form: 'text' },
  { typed: ['export', SESSION, '--as', 'json'], form: 'text' },
  // A file that is there is not written over.
  { typed: ['export', SESSION, '--as', 'html', '-o', PAGE], form: 'text' },
  { typed: ['export', SESSION, '--as', 'bundle', '-o', BUNDLE], form: 'json' },
  { typed: ['import', BUNDLE, '--dry-run'], form: 'text' },
  { typed: ['import', BUNDLE], form: 'json' },
  row('migrate --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('space create shop --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('space set shop owner --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('space verify shop --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('space gc shop --dry-run --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('space rotate-keys shop --database-url postgres://127.0.0.1:1/nothing', { exitCode: 2 }),
  row('space reseal --database-url postgres://127.0.0.1:1/nothing', { exitCode: 2 }),
  row('space source shop --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row(
    'space trust shop https://ci.example --host git.example --repository acme/shop --ref refs/heads/main --database-url postgres://127.0.0.1:1/nothing',
    { exitCode: 1 },
  ),
  row('session hand-over sess_06gy ben --space shop --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('connect http://127.0.0.1:1/s/shop', { exitCode: 2, form: 'text' }),
  row('connect http://127.0.0.1:1/s/shop --sign-in', { exitCode: 1, form: 'text' }),
  row('connect http://127.0.0.1:1/s/shop --sign-out'),
  row('space list --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('member list --space shop --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('member set https://idp|me admin --space shop --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('member remove me --space shop --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('token create --for ci --space shop --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('token list --space shop --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('token revoke 1f2e3d4c --space shop --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('audit verify --space shop --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('audit export -o audit.jsonl --space shop --database-url postgres://127.0.0.1:1/nothing', { exitCode: 1 }),
  row('store copy --to copied-data'),
  row('workflow list'),
  row('workflow show team.hostile'),
  row('workflow preview team.hostile --step one'),
  row('workflow check', { exitCode: 4 }),
  row('workflow dry-run team.hostile --yes --verbose'),
  row('workflow diff team.hostile wr.first_steps'),
  row('workflow uses team.hostile'),
  row('workflow builtins', { form: 'json' }),
  row('config servers'),
  row('workflow copy team.hostile team.copy', { form: 'json' }),
  row('workflow migrate-id team.copy team.moved', { form: 'json' }),
  { typed: ['workflow', 'new', 'team.fresh', '--name', HOSTILE.replace('\0', '')], form: 'json' },
  row('workflow test team.fresh', { form: 'json' }),
  row(`session prefer ${SESSION} guided`),
  row(`session accept ${SESSION}`, { exitCode: 2 }),
  row(`session fork-from-valid ${SESSION}`, { exitCode: 2 }),
  row(`session keep ${SESSION}`),
  row(`session close ${SESSION}`, { form: 'text' }),
  row(`session close ${SESSION} --undo`, { form: 'json' }),
  row('gc --dry-run'),
  row(`session delete ${SESSION}`, { exitCode: 5 }),
  row(`session delete ${SESSION} --yes`, { form: 'json' }),
  row('session delete --undo', { form: 'text' }),
  row(`session delete --undo ${SESSION}`, { form: 'json' }),
  row('config list'),
  row('config path'),
  row('config get mode'),
  row('config set mode guided'),
  row('keys status'),
  row('keys rotate', { form: 'text' }),
  row('keys rotate --yes', { form: 'json' }),
  row('keys repair'),
  row('keys public', { form: 'json' }),
  row(`export ${SESSION} --as passport -o passport.json`, { form: 'json' }),
  row('verify passport.json --key missing.pem', { exitCode: 2 }),
  row('passport check passport.json --base main', { exitCode: 2 }),
  row('approvers list'),
  row('approvers add missing.pub', { exitCode: 2 }),
  row('approvers remove nobody', { exitCode: 3 }),
  row('source add ./flows', { form: 'json' }),
  row('source list'),
  row('source update', { form: 'json' }),
  row('source accept', { exitCode: 3 }),
  row('source remove flows', { form: 'json' }),
  row('init --dry-run'),
  row('init', { exitCode: 5, form: 'text' }),
  row('init --client cursor', { form: 'json' }),
  row('doctor'),
  row('init --undo', { form: 'text' }),
  row('completion zsh'),
  { typed: ['completion', 'bash', '--complete', '--', 'session', 'show', ''], form: 'text' },
  { typed: ['completion', 'bash', '--complete', '--', 'workflow', 'show', 'team'], form: 'text' },
  row('version', { form: 'json' }),
];

/** Not found, wrongly used, not allowed: each quotes what was typed, and says what may have been meant. */
const REFUSED: readonly (Row & { readonly said: RegExp })[] = [
  { typed: ['session', 'show', TYPED], exitCode: 3, said: /session list/ },
  { typed: ['session', 'notes', '--step', TYPED], exitCode: 3, said: /one, two/ },
  { typed: ['session', 'diff', SESSION, 'main', TYPED], exitCode: 3, said: /main, A, one/ },
  { typed: ['session', 'close', SESSION, '--run', TYPED], exitCode: 3, said: /team\.hostile/ },
  { typed: ['session', 'prefer', SESSION, TYPED], exitCode: 2, said: /guided/ },
  { typed: ['export', SESSION, '--as', TYPED], exitCode: 2, said: /bundle, md, html, json, pdf, passport/ },
  { typed: ['import', TYPED], exitCode: 3, said: /workrail export|\.js export/ },
  { typed: ['workflow', 'show', `team.hostil${TYPED}`], exitCode: 3, said: /The workflows are |Did you mean/ },
  { typed: ['workflow', 'preview', 'team.hostile', '--step', 'tow'], exitCode: 3, said: /Did you mean two/ },
  { typed: ['workflow', 'check', 'team.hostle'], exitCode: 3, said: /Did you mean team\.hostile/ },
  { typed: ['config', 'get', `mode${TYPED}`], exitCode: 2, said: /mode, riskPolicy/ },
  { typed: ['source', 'remove', TYPED], exitCode: 3, said: /source add/ },
  { typed: ['init', '--client', `curs${TYPED}`], exitCode: 2, said: /claude-code/ },
  { typed: ['gc', '--older-than', TYPED], exitCode: 2, said: /90d/ },
  { typed: ['session', TYPED], exitCode: 2, said: /--help/ },
];

describe('with hostile content in every file', () => {
  it('every command works in a pipe: plain text, a suggestion, and its published shape under --json', async () => {
    enforces(
      'cli_json_everywhere',
      'cli_docs_commands_run_in_ci',
      'cli_escapes_not_raw',
      'cli_exit_codes',
      'cli_last_line_suggests_next',
      'cli_stdout_data_stderr_talk',
    );
    mkdirSync(join(machine.work, 'flows'));
    const simple = readFileSync('workflows/wr.first_steps.json', 'utf8').replace('wr.first_steps', 'team.simple');
    writeFileSync(join(machine.work, 'flows', 'team.simple.json'), simple);
    for (const [at, { form = drawnForm(at), ...typed }] of ROWS.entries()) {
      if (form !== 'json') await inText(typed);
      if (form !== 'text') await asJson(typed);
    }
    expect(readFileSync(join(machine.work, PAGE), 'utf8')).not.toMatch(OBEYED);
    const walked = new Set(ROWS.map(({ typed }) => nameOf(typed)));
    // What serve writes is the protocol, and the demo, which shows nothing of the user's, has a test of its own.
    expect(COMMANDS.map(commandName).filter((name) => !walked.has(name))).toEqual(['demo', 'serve', 'console']);
  }, 240_000);

  it('a refusal quotes hostile input harmlessly and suggests what was meant', async () => {
    enforces('cli_ids_forgiving', 'cli_json_error_shape', 'cli_escapes_not_raw', 'cli_exit_codes');
    for (const { said, ...typed } of REFUSED) {
      const { error } = await asJson(typed);
      expect(error).toMatchObject({ fix: expect.stringMatching(said) });
    }
    const { talk } = await run(['session', 'show', TYPED]);
    expect(withoutProgress(talk)).toMatch(/^SESSION_NOT_FOUND: .*"\\u001b\[2J\\u009b31m\\u202e\\u200b".*\nFix: /);
    expect(talk).not.toMatch(OBEYED);
  }, 60_000);
});

/** Both forms in a long check; otherwise the commit says which of them. */
function drawnForm(at: number): Form | undefined {
  if (isLong) return undefined;
  return (at + drawnSeed()) % 2 === 0 ? 'text' : 'json';
}

async function inText({ typed, exitCode = 0 }: Row): Promise<void> {
  const ended = await run(typed);
  const words = typed.join(' ');
  expect([words, ended.exitCode, ended.exitCode === exitCode ? '' : ended.talk]).toEqual([words, exitCode, '']);
  expect([words, OBEYED.exec(ended.out), OBEYED.exec(ended.talk)]).toEqual([words, null, null]);
  expect([words, /^(?:Next|Fix): /m.test(ended.out)]).toEqual([words, false]);
  // A user who is refused reads what to do about it; a shell that completes reads nothing.
  const last = ended.talk.trimEnd().split('\n').at(-1) ?? '';
  const expected = typed.includes('--complete') ? '' : expect.stringMatching(/^(?:Next|Fix): \S/);
  expect([words, last]).toEqual([words, expected]);
}

async function asJson({ typed, exitCode = 0 }: Row): Promise<{ readonly error?: object }> {
  const ended = await run([...typed, '--json']);
  const words = typed.join(' ');
  expect([words, ended.exitCode, ended.exitCode === exitCode ? '' : ended.out]).toEqual([words, exitCode, '']);
  expect([words, OBEYED.exec(ended.out), OBEYED.exec(ended.talk)]).toEqual([words, null, null]);
  expect([words, /^(?:Next|Fix): /m.test(ended.talk)]).toEqual([words, false]);
  expect(ended.out.trimEnd().split('\n')).toHaveLength(1);
  const document = JSON.parse(ended.out) as { readonly ok: boolean; readonly error?: object };
  const known = COMMAND_SHAPES[nameOf(typed)] ?? COMMAND_SHAPES['session show'];
  expect(known?.parse(document)).toEqual(document);
  expect([words, document.ok]).toEqual([words, exitCode === 0]);
  return document;
}

function run(typed: readonly string[]) {
  const words = typed.map((word) => (word === SESSION ? machine.sessionId : word));
  return runSmall(words, { cwd: machine.work, env: machine.env });
}

function nameOf([first = '', second = '']: readonly string[]): string {
  const names = COMMANDS.map(commandName);
  return names.includes(first) ? first : `${first} ${second}`;
}

function row(line: string, rest: Omit<Row, 'typed'> = {}): Row {
  return { typed: line.split(' '), ...rest };
}
