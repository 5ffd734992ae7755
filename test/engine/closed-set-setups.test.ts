import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nodeHasher } from '../../src/adapters/system.ts';
import { gitObserver } from '../../src/adapters/workspace.ts';
import { answerGate, findWaitingDraft, type PersonAnswer } from '../../src/app/run/answer-gate.ts';
import { findCheck, recordCheck, runCheck } from '../../src/app/run/attest-check.ts';
import type { Services } from '../../src/app/services.ts';
import { setPreferences } from '../../src/app/upkeep/set-preferences.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import { PRESETS } from '../../src/core/log/autonomy.ts';
import { ATTESTATION_CHANNELS, type AttestationChannel } from '../../src/core/log/events/attestation-events.ts';
import { WORKFLOW_SOURCE_KINDS } from '../../src/core/log/events/run-events.ts';
import { AttestationId, derivedBits, type RunId } from '../../src/core/log/ids.ts';
import { REHEARSED_GATES } from '../../src/core/settings/settings-in-effect.ts';
import type { Check } from '../../src/core/workflow/compiled/compiled-step.ts';
import { fileWith } from '../catalog/catalog-of.ts';
import { type Engine, engine, eventsOf, tokenOf, withFile } from '../examples/engine.ts';
import { sha256 } from '../examples/sha256.ts';
import { sessionOf } from '../examples/shared-session.ts';
import { membersIn } from './closed-set-members.ts';
import { membersOf } from './closed-set-producers.ts';

/** These members need more than calls of tools with the usual fixtures: git, settings, a person or a command. */
let folder = '';

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-sets-')));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Checks that events hold every member that the table names for a test. */
function expectMembers(title: string, agents: readonly Pick<Engine, 'events'>[]): void {
  const seen = membersIn(agents.flatMap(({ events }) => events));
  expect(membersOf(title).filter((name) => !seen.has(name))).toEqual([]);
}

type Reply = Awaited<ReturnType<Engine['send']>>;
const runIdOf = ({ structured }: Reply) => (structured['session'] as { readonly runId: RunId }).runId;
const BASE = { name: 'Work', description: 'Does it.', version: '1.0.0' };

/** On a busy machine git may need longer than it gets from a server. */
const PATIENT = { start: 20_000, short: 20_000, long: 20_000 };

test('a start in a repository, in a plain folder and in one that is gone records how sure it is', async () => {
  const git = (place: string, ...args: readonly string[]) =>
    execFileSync('git', ['-C', place, ...args], { stdio: 'pipe' });
  const agents: Engine[] = [];
  const start = async (workspace: string, path = process.env['PATH']) => {
    const before = process.env['PATH'];
    const agent = engine({ services: { workspace: gitObserver(nodeHasher, PATIENT) } });
    agents.push(agent);
    process.env['PATH'] = path;
    await agent.start('test.plain', { workspace });
    process.env['PATH'] = before;
  };
  for (const format of ['sha1', 'sha256']) {
    const place = join(folder, format);
    mkdirSync(place);
    git(place, 'init', '-q', '-b', 'topic', `--object-format=${format}`);
    git(place, '-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'first');
    await start(place);
  }
  // Only git can read this form, so without it nobody knows where the repository begins.
  await start(join(folder, 'sha256'), '');
  await start(join(folder, 'gone'));
  expectMembers('a start in a repository, in a plain folder and in one that is gone records how sure it is', agents);
});

test('a workflow from each kind of source can be started', async () => {
  const file = (kind: string) =>
    JSON.stringify({ ...BASE, id: kind === 'bundled' ? 'wr.of_bundled' : `team.of_${kind}`, steps: STEPS });
  const files = WORKFLOW_SOURCE_KINDS.map((kind) => fileWith(file(kind), { kind, ref: `${kind}/work.json` }));
  const agent = engine({ listing: () => ({ files }) });
  for (const kind of WORKFLOW_SOURCE_KINDS) await agent.start(kind === 'bundled' ? 'wr.of_bundled' : `team.of_${kind}`);
  expectMembers('a workflow from each kind of source can be started', [agent]);
});

const STEPS = [
  { id: 'do', title: 'Do it', prompt: 'Do it.' },
  { id: 'tell', title: 'Tell', prompt: 'Tell them.', notesOptional: true },
];

test('a required capability that nobody knows blocks, and leaves a gap where nothing stops', async () => {
  const file = { ...BASE, id: 'team.delegates', capabilities: { delegation: 'required' }, steps: STEPS };
  const agent = engine({ listing: () => withFile(file) });
  const unknown = (capability: string) => ({ kind: 'wr.capability_observation', capability, status: 'unknown' });
  const blocked = await agent.send(await agent.start('team.delegates'), { artifacts: [unknown('delegation')] });
  expect(blocked.structured['kind']).toBe('blocked');
  const alone = await agent.start('test.powers', { mode: 'full_auto_never_stop' });
  await agent.send(alone, { artifacts: [unknown('web_browsing')] });
  expectMembers('a required capability that nobody knows blocks, and leaves a gap where nothing stops', [agent]);
});

test('settings of a project and of the environment, and a person, set the mode and the risk policy', async () => {
  const agents = (['workspace', 'variable'] as const).map((kind) => {
    const origin =
      kind === 'variable' ? { kind, name: 'WORKRAIL_MODE' } : { kind, path: '/work/.workrail/config.json' };
    const defaults = { ...PRESETS.full_auto_stop_on_user_deps, origin } as never;
    return engine({ services: { defaults: async () => ok(defaults) } });
  });
  for (const agent of agents) await agent.start('test.plain');
  const file = {
    ...BASE,
    id: 'team.careful',
    recommendedPreferences: { recommendedRiskPolicy: 'conservative' },
    steps: STEPS,
  };
  const agent = engine({ listing: () => withFile(file) });
  const sessionId = sessionOf(await agent.start('team.careful'));
  const wanted = { sessionId, riskPolicy: 'aggressive', isLooseningAllowed: true } as const;
  (await setPreferences({ ...agent.services, by: { via: 'cli', terminal: true } }, wanted))._unsafeUnwrap();
  expectMembers('settings of a project and of the environment, and a person, set the mode and the risk policy', [
    ...agents,
    agent,
  ]);
});

const GATED = {
  ...BASE,
  id: 'team.gated',
  steps: [{ ...STEPS[0], requireConfirmation: { kind: 'human_approval' } }, STEPS[1]],
};
const ASKS = {
  ...BASE,
  id: 'team.asks',
  steps: [
    {
      ...STEPS[0],
      notesOptional: true,
      userDependency: {
        reason: 'needs_user_choice',
        choiceKind: 'irreversible_action',
        contextKey: 'target',
        prompt: 'Where to?',
      },
    },
    STEPS[1],
  ],
};

test('a person answers on every channel, having seen the whole draft or a part of it', async () => {
  const agent = engine({
    listing: () => ({ files: [...withFile(GATED).files, ...withFile(ASKS).files.slice(-1)] }),
    services: { gateSettings: async () => ({ ...REHEARSED_GATES, accept: ATTESTATION_CHANNELS }) },
  });
  const answer = async (from: Reply, via: AttestationChannel, statement: PersonAnswer['statement']) => {
    const nodeId = await agent.node(from);
    const at = { sessionId: sessionOf(from), nodeId };
    const session = (await agent.services.sessions.load(at.sessionId))._unsafeUnwrap();
    const { digest } = (await findWaitingDraft(agent.services, session, nodeId))._unsafeUnwrap();
    const attestationId = AttestationId.of(derivedBits([via, nodeId], sha256));
    const by = { via, launch: 'l1', askedAt: 1, answerMs: 5_000 };
    return (await answerGate(agent.services, at, { attestationId, digest, statement, by }))._unsafeUnwrap();
  };
  for (const [i, via] of ATTESTATION_CHANNELS.entries()) {
    const blocked = await agent.send(await agent.start('team.gated'), { notes: 'Shipped.' });
    const isOdd = i % 2 === 1;
    await answer(blocked, via, { kind: isOdd ? 'rejected' : 'approved', shown: isOdd ? 'part' : 'whole' });
  }
  const asked = await agent.send(await agent.start('team.asks'));
  await answer(asked, 'terminal', { kind: 'answered', value: 'staging', shown: 'whole' });
  expectMembers('a person answers on every channel, having seen the whole draft or a part of it', [agent]);
});

test('commands are run for checks of every grade, and a gap points at the run that failed', async () => {
  const checks = [
    { id: 'said', run: 'true', minimum: 'asserted' },
    { id: 'told', run: 'true', minimum: 'reported' },
    { id: 'seen', run: '{{command}}', minimum: 'observed' },
    { id: 'sure', run: 'true', minimum: 'observed' },
  ];
  const file = { ...BASE, id: 'team.checked', steps: [{ ...STEPS[0], checks }, STEPS[1]] };
  let changes = 0;
  let isChanging = true;
  const tree = async () => ({
    headSha: 'a'.repeat(40),
    treeDigest: `sha256:${String(isChanging ? changes++ : changes).padStart(64, '0')}`,
  });
  const observe = async () => [
    { key: 'repo_root', value: { type: 'path', value: folder }, confidence: 'high' } as const,
  ];
  const listing = () => withFile(file);
  const catalog = needingVerified(engine({ listing }).services.catalog, 'sure');
  const agent = engine({ listing, services: { catalog, workspace: { observe, tree } } });
  const attest = async (
    from: Reply,
    checkId: string,
    by: { readonly via: AttestationChannel; readonly exitCode?: number },
  ) => {
    const session = (await agent.services.sessions.load(sessionOf(from)))._unsafeUnwrap();
    const looked = await findCheck(agent.services, session, { runId: runIdOf(from), checkId });
    const found = looked._unsafeUnwrap({ withStackTrace: true });
    const checkRunner = {
      run: async () => ({ exitCode: by.exitCode ?? 0, timedOut: false, durationMs: 1, tail: 'ok' }),
      withBase: async () => expect.fail('nothing is compared with a base'),
    };
    const work = { timeoutMs: 1_000, isConfirmed: by.via === 'ci', onOutput: async () => undefined };
    const { statement, tail } = await runCheck({ ...agent.services, checkRunner }, found, work);
    const attestationId = AttestationId.of(derivedBits([checkId, session.view.nextEventIndex], sha256));
    const channel = { via: by.via, launch: 'l1', askedAt: 1, answerMs: 5 };
    (await recordCheck(agent.services, found, { statement, tail, attestationId, by: channel }))._unsafeUnwrap();
  };
  const start = await agent.start('team.checked', { mode: 'full_auto_never_stop', context: { command: 'true' } });
  await attest(start, 'seen', { via: 'terminal', exitCode: 1 });
  isChanging = false;
  await attest(start, 'sure', { via: 'ci' });
  const told = { name: 'told', outcome: 'pass' };
  const report = { kind: 'wr.verification_report', checks: [told], summary: 'All good.' };
  await agent.send(start, { notes: 'Ran everything.', artifacts: [report] });
  const again = await agent.show(tokenOf(start, 'stateToken'));
  await agent.send(again, { notes: 'Ran everything.' });
  expectMembers('commands are run for checks of every grade, and a gap points at the run that failed', [agent]);
});

/** A catalog whose workflows need a verified check. Only a team server compiles such files, and any server runs them. */
function needingVerified(catalog: Services['catalog'], checkId: string): Services['catalog'] {
  const verified = (check: Check): Check => (check.checkId === checkId ? { ...check, minimum: 'verified' } : check);
  return {
    ...catalog,
    find: async (id, workspace) => {
      const answer = await catalog.find(id, workspace);
      if (answer.found.kind !== 'found') return answer;
      const { listed } = answer.found;
      const steps = listed.workflow.steps.map((step) => ({
        ...step,
        ...(step.checks === undefined ? {} : { checks: step.checks.map(verified) }),
      }));
      return { ...answer, found: { ...answer.found, listed: { ...listed, workflow: { ...listed.workflow, steps } } } };
    },
  };
}

test('a stored reply leaves room for the session id, which an import may change', async () => {
  const agent = engine();
  await agent.send(await agent.start('test.plain'), { notes: 'Done.' });
  const replies = eventsOf(agent, 'advance_recorded').map(({ data }) => data.reply.structured);
  expect(replies).toMatchObject([{ session: { sessionId: { $hole: 'sessionId' } } }]);
});

test('a reply warns about notes that are cut, unset values, missing documents, blanks and looser preferences', async () => {
  const title =
    'a reply warns about notes that are cut, unset values, missing documents, blanks and looser preferences';
  const reference = { id: 'guide', title: 'Guide', source: './gone.md', purpose: 'Says how.', authoritative: true };
  const steps = [STEPS[0], { ...STEPS[1], prompt: 'Tell {{nobody}}.' }];
  const recommendedPreferences = { recommendedRiskPolicy: 'conservative' };
  const file = { ...BASE, id: 'old-name', references: [reference], recommendedPreferences, steps };
  const defaults = async () => ok({ ...PRESETS.guided, riskPolicy: 'aggressive' as const });
  const found = { ...reference, path: '/etc/gone.md', isAuthoritative: true, isResolved: false, isOutside: true };
  const references = { find: async () => [found] };
  const agent = engine({ listing: () => withFile(file), services: { defaults, references } });
  const start = await agent.start('old-name');
  const long = await agent.send(start, { notes: 'x'.repeat(70_000), context: { free: '<fill: something>' } });
  const powers = await agent.send(await agent.start('test.powers'), {
    artifacts: [seenAs('web_browsing', 'available')],
  });
  const angles = await agent.send(powers, { notes: 'Read.', artifacts: [seenAs('delegation', 'unavailable')] });
  const shown = await agent.send(angles, { artifacts: [seenAs('delegation', 'unavailable')] });
  const again = await agent.start('old-name');
  const odd = await agent.send(again, { notes: 'Half \uD800 and \0.' });
  expect(JSON.stringify(odd.structured)).toMatch(/lone surrogates.*NUL/);
  const saved = await agent.save(again, 'Half \uDC00.');
  expect(JSON.stringify(saved.structured)).toMatch(/lone surrogates/);
  const codes = [start, long, powers, angles, shown, odd].flatMap(({ structured }) =>
    (structured['warnings'] as readonly JsonObject[]).map(({ code }) => `warning ${String(code)}`),
  );
  expect(membersOf(title).filter((name) => !codes.includes(name))).toEqual([]);
});

const seenAs = (capability: string, status: string) => ({ kind: 'wr.capability_observation', capability, status });
