import { describe, expect, test } from 'vitest';
import { dueCheck, findCheck, needsConfirmation, recordCheck, runCheck } from '../../src/app/run/attest-check.ts';
import { inspectSession } from '../../src/app/sessions/inspect-session.ts';
import { acceptSession } from '../../src/app/upkeep/accept-session.ts';
import { defined, type JsonObject } from '../../src/core/json/json-value.ts';
import { AttestationId, derivedBits, type RunId, type SessionId } from '../../src/core/log/ids.ts';
import { type CheckRun, commandDigest } from '../../src/core/run/evidence/judge-check.ts';
import type { BoundWorkspace } from '../../src/core/run/gate-facts.ts';
import { GIT_SILENT } from '../../src/core/run/unseen-files.ts';
import { REHEARSED_GATES } from '../../src/core/settings/settings-in-effect.ts';
import { fileWith } from '../catalog/catalog-of.ts';
import { enforces } from '../enforces.ts';
import { exported, imported } from '../examples/bundles.ts';
import { type Engine, engine, tokenOf, withFile } from '../examples/engine.ts';
import { sha256 } from '../examples/sha256.ts';

type Reply = Awaited<ReturnType<Engine['send']>>;
const MODES = ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'] as const;
const OBSERVED = { id: 'unit', run: 'npm test', minimum: 'observed' };
const REPORTED = { ...OBSERVED, minimum: 'reported' };

const file = (...checks: readonly object[]) => ({
  id: 'team.work',
  name: 'Work',
  description: 'Does it.',
  version: '1.0.0',
  steps: [
    { id: 'do', title: 'Do it', prompt: 'Do it.', checks },
    { id: 'tell', title: 'Tell', prompt: 'Tell them.', notesOptional: true },
  ],
});

function made(checks: readonly object[], tree: () => BoundWorkspace | undefined = () => undefined): Engine {
  const root = { key: 'repo_root', value: { type: 'path', value: '/work/shop' }, confidence: 'high' } as const;
  return engine({
    listing: () => withFile(file(...checks)),
    services: { workspace: { observe: async () => [root], tree: async () => tree() } },
  });
}

const kindOf = ({ structured }: Reply) => structured['kind'];
const blockersOf = ({ structured }: Reply) => structured['blockers'] as readonly JsonObject[];
const checksOf = ({ structured }: Reply) => (structured['stepContext'] as JsonObject | undefined)?.['checks'];

let serial = 0;

/** A run of the check that passed, as it is recorded. */
function passed(more: Partial<CheckRun> = {}) {
  serial += 1;
  const commandRun = { commandDigest: commandDigest('npm test', sha256), exitCode: 0, timedOut: false, durationMs: 5 };
  return {
    statement: { kind: 'check', checkId: 'unit', ...commandRun, ...more },
    tail: 'ok',
    attestationId: AttestationId.of(derivedBits(['test', serial], sha256)),
    by: { via: 'terminal', launch: 'l1', askedAt: 1, answerMs: 5 },
  } as const;
}

/** Records a run of a check as `workrail attest` does, without running anything. */
async function attest(run: Engine, from: Reply, more: Partial<CheckRun> = {}) {
  const { sessionId, runId } = from.structured['session'] as { sessionId: SessionId; runId: RunId };
  const session = (await run.services.sessions.load(sessionId))._unsafeUnwrap();
  const found = (await findCheck(run.services, session, { runId, checkId: 'unit' }))._unsafeUnwrap();
  return recordCheck(run.services, found, passed(more));
}

const REPORT = (outcome: string, name = 'unit') => ({
  kind: 'wr.verification_report',
  summary: 'The tests pass.',
  checks: [{ name, outcome, evidence: '12 passed' }],
});
const NOTES = 'All tests pass: npm test ended with 12 passed.';

describe.each(MODES)('a check in %s', (mode) => {
  test('a check that must be observed is not met by notes or artifacts', async () => {
    enforces('check_observed_only_by_run');
    const run = made([OBSERVED]);
    let reply = await run.start('team.work', { mode });
    expect(reply.text).toMatch(
      /run `workrail attest [0-9a-z]{4} unit` in a shell\.(?: If it says that no person has confirmed the command, ask the user to run it in a terminal of their own\.)? `attest` runs `npm test`/,
    );
    reply = await run.send(reply, { notes: NOTES, artifacts: [REPORT('pass')], context: { unit: 'observed' } });
    if (mode === 'full_auto_never_stop') {
      expect(reply.structured['gaps']).toMatchObject([{ detail: 'missing_required_output' }]);
      expect(checksOf(reply)).toEqual([{ stepId: 'do', checkId: 'unit', minimum: 'observed', grade: 'reported' }]);
      expect(reply.text).toContain('Evidence for checks: "unit": only reported (the agent sent a result).');
      return;
    }
    const tag = (reply.structured['run'] as JsonObject)['tag'];
    expect(blockersOf(reply)).toMatchObject([
      {
        code: 'MISSING_REQUIRED_OUTPUT',
        pointer: { kind: 'workflow_step', stepId: 'do' },
        message:
          'The check "unit" must be observed (WorkRail ran it), and it is only reported (the agent sent a result).',
        suggestedFix: `Run \`workrail attest ${tag} unit\` in a shell of the workspace. If it says that no person has confirmed the command, ask the user to run it in a terminal of their own. Then send the next call. It needs no output.`,
      },
    ]);
    for (let i = 0; i < 4; i++) reply = await run.send(reply, { notes: `${NOTES} Again ${i}.` });
    expect(kindOf(reply)).toBe('blocked');
    await attest(run, reply);
    const next = await run.send(reply);
    expect(kindOf(next)).toBe('ok');
    expect(next.text).toContain('Evidence for checks: "unit": observed (WorkRail ran it).');
  });
});

test('a report that a check passed does not replace a recorded run in which it failed, and a passing run does', async () => {
  const run = made([REPORTED]);
  const start = await run.start('team.work');
  await attest(run, start, { exitCode: 1 });
  const blocked = await run.send(start, { notes: NOTES, artifacts: [REPORT('pass')] });
  const tag = (blocked.structured['run'] as JsonObject)['tag'];
  expect(blockersOf(blocked)).toMatchObject([
    {
      message:
        'The check "unit" did not pass in the last run that WorkRail recorded, and a report cannot replace that run. The last run does not count for more: the command ended with exit code 1.',
      suggestedFix: `Fix the work. Then run \`workrail attest ${tag} unit\` again, and send the call.`,
    },
  ]);
  await attest(run, blocked);
  expect(kindOf(await run.send(blocked))).toBe('ok');
});

test('a check says that the call needs no output only where nothing else needs it', async () => {
  const run = made([OBSERVED, { ...REPORTED, id: 'lint' }]);
  let reply = await run.start('team.work');
  reply = await run.send(reply, { notes: NOTES });
  expect(reply.text).toContain('Then send the next call.');
  expect(reply.text).not.toContain('It needs no output.');
  reply = await run.send(reply, { artifacts: [REPORT('pass', 'lint')] });
  expect(reply.text).toContain('Then send the next call. It needs no output.');
});

test('the newest run of a check counts', async () => {
  const run = made([OBSERVED]);
  let reply = await run.start('team.work');
  await attest(run, reply);
  await attest(run, reply, { exitCode: 1 });
  reply = await run.send(reply, { notes: NOTES });
  expect(blockersOf(reply)[0]?.['message']).toBe(
    'The check "unit" must be observed (WorkRail ran it), and it is only asserted (the agent sent only notes). The last run does not count for more: the command ended with exit code 1.',
  );
  await attest(run, reply);
  expect(kindOf(await run.send(reply))).toBe('ok');
});

test('a check that may be reported is met by an entry of its name that passed, and the form has that name', async () => {
  const run = made([REPORTED]);
  const start = await run.start('team.work');
  const nextCall = start.structured['nextCall'] as { arguments: { output: { artifacts: readonly JsonObject[] } } };
  expect(nextCall.arguments.output.artifacts).toMatchObject([
    { kind: 'wr.verification_report', checks: [{ name: 'unit', outcome: '<fill: pass | fail | skipped>' }] },
  ]);
  let reply = await run.send(start, { notes: NOTES, artifacts: [REPORT('pass', 'lint')] });
  expect(kindOf(reply)).toBe('blocked');
  reply = await run.send(reply, { artifacts: [REPORT('fail')] });
  expect(kindOf(reply)).toBe('blocked');
  const offered = (reply.structured['nextCall'] as typeof nextCall).arguments.output.artifacts[0];
  expect(offered?.['checks']).toEqual([{ name: 'unit', outcome: '<fill: pass | fail | skipped>' }]);
  reply = await run.send(reply, { artifacts: [REPORT('pass')] });
  expect(checksOf(reply)).toMatchObject([{ checkId: 'unit', grade: 'reported' }]);
});

test('a run whose command nobody confirmed counts as reported, and the block asks for a person', async () => {
  enforces('check_unconfirmed_is_reported');
  const run = made([OBSERVED]);
  let reply = await run.start('team.work');
  await attest(run, reply, { unseen: true });
  reply = await run.send(reply, { notes: NOTES });
  expect(blockersOf(reply)[0]?.['suggestedFix']).toContain('Ask the user to run');
  expect(kindOf(await made([REPORTED]).start('team.work'))).toBe('ok');
});

test('a run of another command does not count, also where the agent changes the value that the command takes', async () => {
  enforces('check_command_digest');
  const run = made([{ ...OBSERVED, run: '{{testCommand}}' }]);
  let reply = await run.start('team.work', { context: { testCommand: 'npm test' } });
  await attest(run, reply);
  const swapped = await run.send(reply, { notes: NOTES, context: { testCommand: 'true' } });
  expect(blockersOf(swapped)[0]?.['message']).toContain('another command was run');
  reply = await run.send(swapped, { context: { testCommand: 'npm test' } });
  expect(kindOf(reply)).toBe('ok');
});

test('a fresh check counts only while the files are the same', async () => {
  enforces('check_fresh_tree');
  let treeDigest = `sha256:${'a'.repeat(64)}`;
  const headSha = 'b'.repeat(40);
  const run = made([{ ...OBSERVED, fresh: 'head' }], () => ({ headSha, treeDigest }));
  let reply = await run.start('team.work');
  await attest(run, reply, { treeDigest: treeDigest as `sha256:${string}`, headSha });
  const before = treeDigest;
  treeDigest = `sha256:${'c'.repeat(64)}`;
  reply = await run.send(reply, { notes: NOTES });
  expect(blockersOf(reply)[0]?.['message']).toContain('files of the workspace changed since the command ran');
  treeDigest = before;
  expect(kindOf(await run.send(reply))).toBe('ok');
});

test('a check that must be verified is met by nothing yet, and the block says so instead of sending the agent round', async () => {
  const run = made([{ ...OBSERVED, minimum: 'verified' }]);
  const start = await run.start('team.work');
  await attest(run, start);
  const reply = await run.send(start, { notes: NOTES, artifacts: [REPORT('pass')] });
  expect(kindOf(reply)).toBe('blocked');
  expect(blockersOf(reply)[0]).toMatchObject({
    message: 'The check "unit" must be verified (CI ran it), and it is only observed (WorkRail ran it).',
    suggestedFix: expect.stringContaining('Without a team server this step cannot be passed: stop and tell the user.'),
  });
});

test('the last reply and a rehydrated end list the checks with their grades', async () => {
  const run = made([OBSERVED]);
  let reply = await run.start('team.work');
  await attest(run, reply);
  reply = await run.send(reply, { notes: NOTES });
  reply = await run.send(reply);
  expect(reply.structured['isComplete']).toBe(true);
  for (const end of [reply, await run.show(reply)]) {
    expect(end.text).toContain(
      'Checks with their evidence (asserted: the agent sent only notes; reported: the agent sent a result; observed: WorkRail ran it; verified: CI ran it):\n- "Do it": "unit": observed',
    );
    expect(checksOf(end)).toEqual([{ stepId: 'do', checkId: 'unit', minimum: 'observed', grade: 'observed' }]);
  }
});

test('a result is refused once the step is done or the run is complete', async () => {
  const run = made([OBSERVED]);
  const start = await run.start('team.work');
  const { sessionId, runId } = start.structured['session'] as { sessionId: SessionId; runId: RunId };
  const load = async () => (await run.services.sessions.load(sessionId))._unsafeUnwrap();
  const found = (await findCheck(run.services, await load(), { runId, checkId: 'unit' }))._unsafeUnwrap();
  const wrong = await findCheck(run.services, await load(), { runId, checkId: 'unti' });
  expect(wrong._unsafeUnwrapErr()).toEqual({ code: 'unknown_check', title: 'Do it', known: ['unit'] });
  await attest(run, start);
  const next = await run.send(start, { notes: NOTES });
  const late = await recordCheck(run.services, found, passed());
  expect(late._unsafeUnwrapErr()).toEqual({ code: 'step_over' });
  const without = await findCheck(run.services, await load(), { runId, checkId: 'unit' });
  expect(without._unsafeUnwrapErr()).toMatchObject({ code: 'step_without_checks' });
  await run.send(next);
  const over = await findCheck(run.services, await load(), { runId, checkId: 'unit' });
  expect(over._unsafeUnwrapErr()).toEqual({ code: 'run_complete' });
});

test('what was observed at a step counts for every attempt at that step, also on a second branch from it', async () => {
  const run = made([OBSERVED]);
  const start = await run.start('team.work');
  await attest(run, start);
  const done = await run.send(start, { notes: NOTES });
  expect(kindOf(done)).toBe('ok');
  const again = await run.show(start);
  const second = await run.send(again, { notes: 'Another way.' });
  expect(checksOf(second)).toMatchObject([{ grade: 'observed' }]);
});

test('a check whose files git cannot compare in time counts as soon as git answers, and nothing is said to have changed', async () => {
  enforces('git_time_out_is_unknown', 'unseen_files_have_a_cause');
  let tree: BoundWorkspace = GIT_SILENT;
  const run = made([{ ...OBSERVED, fresh: 'head' }], () => tree);
  const start = await run.start('team.work');
  expect((await attest(run, start))._unsafeUnwrap()).toEqual({ kind: 'fails', fault: 'files_unseen' });
  const known = { headSha: 'd'.repeat(40), treeDigest: `sha256:${'a'.repeat(64)}` } as const;
  await attest(run, start, known);
  const blocked = await run.send(start, { notes: NOTES });
  expect(blockersOf(blocked)[0]).toMatchObject({
    message: expect.stringContaining(
      'git did not answer in time, so WorkRail does not know whether files changed since',
    ),
    suggestedFix: 'Wait until the machine is less busy. Then send the next call. It needs no output.',
  });
  tree = { unseen: 'no_commit' };
  const again = await run.send(blocked);
  expect(blockersOf(again)[0]).toMatchObject({
    message: expect.stringContaining(
      'the repository has no commit yet, so WorkRail does not know whether files changed since',
    ),
    suggestedFix: 'Make a first commit. Then send the next call. It needs no output.',
  });
  tree = known;
  expect(kindOf(await run.send(again))).toBe('ok');
});

const FILES = { headSha: 'd'.repeat(40), treeDigest: `sha256:${'a'.repeat(64)}` } as const;

test.each<readonly [string, readonly (BoundWorkspace | undefined)[], Partial<CheckRun>]>([
  ['known before and after', [FILES, FILES], FILES],
  ['known only after the command, which can have put them back', [undefined, FILES], {}],
  ['known only after the command, because git was slow before it', [GIT_SILENT, FILES], {}],
  ['known only before the command', [FILES, GIT_SILENT], {}],
  ['a folder outside of a repository', [undefined, undefined], {}],
  ['changed by the command', [{ ...FILES, treeDigest: 'sha256:b' }, FILES], { ...FILES, changedDuring: true }],
  ['committed by the command', [{ ...FILES, headSha: 'c'.repeat(40) }, FILES], { treeDigest: FILES.treeDigest }],
])(
  'a check names the files that it ran on only if these were known before and after its command: %s',
  async (_, looks, expected) => {
    enforces('check_fresh_tree');
    const left = [...looks];
    const run = made([{ ...OBSERVED, fresh: 'head' }]);
    const start = await run.start('team.work');
    const { sessionId, runId } = start.structured['session'] as { sessionId: SessionId; runId: RunId };
    const session = (await run.services.sessions.load(sessionId))._unsafeUnwrap();
    const found = (await findCheck(run.services, session, { runId, checkId: 'unit' }))._unsafeUnwrap();
    const ended = { exitCode: 0, timedOut: false, durationMs: 5, tail: 'ok' };
    const services = {
      ...run.services,
      workspace: { observe: async () => [], tree: async () => left.shift() },
      checkRunner: { run: async () => ended, withBase: assertUnused },
    };
    const how = { timeoutMs: 1, isConfirmed: true, onOutput: async () => undefined };
    const { statement } = await runCheck(services, found, how);
    const { headSha, treeDigest, changedDuring } = statement;
    expect(defined({ headSha, treeDigest, changedDuring })).toEqual(expected);
  },
);

test('a check is refused by name where the folder of its run is gone', async () => {
  const gone = { observe: async () => IN_FOLDER, tree: async () => undefined, folder: () => undefined };
  const run = engine({ listing: () => withFile(file(OBSERVED)), services: { workspace: gone } });
  const start = await run.start('team.work');
  const { sessionId, runId } = start.structured['session'] as { sessionId: SessionId; runId: RunId };
  const session = (await run.services.sessions.load(sessionId))._unsafeUnwrap();
  const refused = (await findCheck(run.services, session, { runId, checkId: 'unit' }))._unsafeUnwrapErr();
  expect(refused).toEqual({ code: 'workspace_gone', folder: '/repo' });
});

const IN_FOLDER = [{ key: 'repo_root', value: { type: 'path', value: '/repo' }, confidence: 'high' }] as const;

test.each([
  ['was attached after a commit', ['a', 'b'], 'b'],
  ['was attached without a commit since', ['a', 'a'], 'a'],
  ['began while git did not answer', [undefined, undefined, 'c'], undefined],
  ['was attached while git did not answer', ['a', undefined, 'c'], undefined],
])(
  'the base of a two-sided check is the commit that its own run began with, where that run %s',
  async (_, heads, base) => {
    const seen = [...heads];
    const run = engine({
      listing: () => withFile(file(OBSERVED)),
      services: {
        workspace: {
          tree: async () => undefined,
          observe: async () => {
            const head = seen.shift();
            const value = { type: 'git_sha1', value: `${head}`.repeat(40) } as const;
            return head === undefined ? [] : [{ key: 'git_head_sha', value, confidence: 'high' }];
          },
        },
      },
    });
    const first = await run.start('team.work');
    const attached = await run.start('team.work', { attachTo: tokenOf(first, 'stateToken') });
    await run.save(attached, 'Half of it is done.');
    const { sessionId, runId } = attached.structured['session'] as { sessionId: SessionId; runId: RunId };
    const session = (await run.services.sessions.load(sessionId))._unsafeUnwrap();
    const found = (await dueCheck(run.services, session, { runId, checkId: 'unit' }))._unsafeUnwrap();
    expect(found.baseSha).toBe(base?.repeat(40));
  },
);

test('a run in a folder below the top runs its checks there and keeps the settings of both folders', async () => {
  enforces('checks_in_start_folder', 'settings_up_to_the_top');
  const root = { key: 'repo_root', value: { type: 'path', value: '/work/shop' }, confidence: 'high' } as const;
  const asked: (readonly string[])[] = [];
  const run = engine({
    listing: () => withFile(file(OBSERVED)),
    services: {
      workspace: { observe: async () => [root], tree: async () => undefined, folder: (folder) => folder },
      gateSettings: async (folders) => {
        asked.push(folders);
        return REHEARSED_GATES;
      },
    },
  });
  const below = '/work/shop/packages/api';
  const first = await run.start('team.work', { workspace: below });
  const beside = await run.start('team.work', { attachTo: tokenOf(first, 'stateToken'), workspace: '/work/shop/docs' });
  const elsewhere = await run.start('team.work', { attachTo: tokenOf(first, 'stateToken'), workspace: '/work/other' });
  const folders = [];
  for (const reply of [first, beside, elsewhere]) {
    const { sessionId, runId } = reply.structured['session'] as { sessionId: SessionId; runId: RunId };
    const session = (await run.services.sessions.load(sessionId))._unsafeUnwrap();
    const found = (await findCheck(run.services, session, { runId, checkId: 'unit' }))._unsafeUnwrap();
    asked.length = 0;
    await run.send(reply, { notes: NOTES });
    folders.push([found.root, found.workspace, ...new Set(asked.flat())]);
  }
  expect(folders).toEqual([
    ['/work/shop', below, '/work/shop', below],
    ['/work/shop', '/work/shop/docs', '/work/shop', below, '/work/shop/docs'],
    // It works on what its session works on, and its own settings count all the same.
    ['/work/shop', '/work/shop', '/work/shop', below, '/work/other'],
  ]);
});

test('a check is shown as met since a block only by a run after that block', async () => {
  const files = (letter: string) => ({ headSha: 'd'.repeat(40), treeDigest: `sha256:${letter.repeat(64)}` }) as const;
  let tree = files('a');
  const run = made([{ ...OBSERVED, fresh: 'head' }], () => tree);
  const start = await run.start('team.work');
  const { sessionId } = start.structured['session'] as { sessionId: SessionId };
  const shown = async () => {
    const { runs } = (await inspectSession(run.services, sessionId, 'standing'))._unsafeUnwrap();
    return runs[0]?.shownChecks.map(({ checkId }) => checkId);
  };
  await attest(run, start, tree);
  expect(await shown()).toEqual(['unit']);
  tree = files('b');
  const blocked = await run.send(start, { notes: NOTES });
  expect(await shown()).toEqual([]);
  await attest(run, blocked, tree);
  expect(await shown()).toEqual(['unit']);
});

function assertUnused(): never {
  throw new Error('no base was asked for');
}

test('a command of an imported run is foreign, accepted or not, wherever its workflow claims to come from', async () => {
  enforces('imported_commands_foreign');
  const listing = {
    files: [fileWith(JSON.stringify(file(OBSERVED)), { ref: 'user/work.json', kind: 'user' as const })],
  };
  const home = engine({ listing: () => listing });
  const begun = await home.start('team.work');
  const { sessionId, runId } = begun.structured['session'] as { sessionId: SessionId; runId: RunId };
  const there = engine();
  const originIn = async ({ services }: Engine) => {
    const session = (await services.sessions.load(sessionId))._unsafeUnwrap();
    const found = (await findCheck(services, session, { runId, checkId: 'unit' }))._unsafeUnwrap();
    return [needsConfirmation(found), found.origin.foreign];
  };
  expect(await originIn(home)).toEqual([false, undefined]);
  await imported(there.services, (await exported(home.services, sessionId))._unsafeUnwrap().file);
  expect(await originIn(there)).toEqual([true, 'import']);
  // Accepting a session shows no commands.
  await acceptSession(there.services, sessionId);
  expect(await originIn(there)).toEqual([true, 'import']);
});

test('a step says in advance what a two-sided check demands, and who has to run a command from context', async () => {
  const strict = { ...OBSERVED, against: 'base', tests: ['test/**'], report: 'tap', fresh: 'head' };
  const { text } = await made([strict]).start('team.work');
  expect(text).toContain('It must fail on the commit at the start of the run and pass now.');
  expect(text).toContain('It must print TAP with at least 1 test. Do not change files after it ran.');
  const chosen = await made([{ ...OBSERVED, run: '{{testCommand}}' }]).start('team.work', {
    context: { testCommand: 'npm test' },
  });
  expect(chosen.text).toMatch(/ask the user to run `workrail attest [0-9a-z]{4} unit` in a terminal of their own/);
  expect(chosen.text).toContain('You supplied the command, so `attest` asks a person to confirm it.');
  const unset = await made([{ ...OBSERVED, run: '{{testCommand}}' }]).start('team.work');
  expect(unset.text).toContain('Because you supply the command, `attest` asks a person to confirm it.');
  expect(unset.text).not.toContain('You supplied the command');
  expect(unset.text).toContain(
    'send "testCommand" in context with your report. The reply then says "Blocked"; ask the user',
  );
});

test('in never-stop mode no check tells the agent to ask the user', async () => {
  for (const run of ['npm test', '{{testCommand}}']) {
    const { text } = await made([{ ...OBSERVED, run }]).start('team.work', { mode: 'full_auto_never_stop' });
    expect(text).not.toContain('ask the user to run');
    expect(text).toContain('If "unit" cannot pass or nobody records it, report this step anyway');
  }
});

test('a command with U+0000 is refused by name before anything is run', async () => {
  const run = made([{ ...OBSERVED, run: 'npm test {{file}}' }]);
  const start = await run.start('team.work', { context: { file: 'a\0b' } });
  const { sessionId, runId } = start.structured['session'] as { sessionId: SessionId; runId: RunId };
  const session = (await run.services.sessions.load(sessionId))._unsafeUnwrap();
  const found = await findCheck(run.services, session, { runId, checkId: 'unit' });
  expect(found._unsafeUnwrapErr()).toEqual({ code: 'command_with_nul' });
});
