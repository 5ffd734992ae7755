import type { WorkspaceObserver } from '../../src/app/ports/workspace-observer.ts';
import { signedSubject, type WaitingDraft } from '../../src/app/run/answer-gate.ts';
import { appendPlan } from '../../src/app/run/give-reply.ts';
import { type GateVerdict, verifyApprovals } from '../../src/app/run/verify-approvals.ts';
import { setPreferences } from '../../src/app/upkeep/set-preferences.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import { type DraftOf, type EventDraft, placeEvents, type SessionEvent } from '../../src/core/log/event.ts';
import { eventIndexSchema, type SessionId } from '../../src/core/log/ids.ts';
import type { BoundWorkspace } from '../../src/core/run/gate-facts.ts';
import { GIT_SILENT } from '../../src/core/run/unseen-files.ts';
import { type GateSettings, REHEARSED_GATES } from '../../src/core/settings/settings-in-effect.ts';
import { applyEvent, emptySessionView } from '../../src/core/views/session-view.ts';
import {
  approversOf,
  type PasskeyTricks,
  passkeyApprover,
  sshApprover,
  type TestApprover,
} from '../examples/approvers.ts';
import { type Engine, engine, type Sent, withFile } from '../examples/engine.ts';
import {
  APPROVED,
  answerAt,
  answerId,
  OBSERVED,
  type Said,
  shipStep,
  TELL,
  teamFile,
  waitingAt,
} from '../examples/gates.ts';
import { sha256 } from '../examples/sha256.ts';

export type Level = 'confirmed' | 'signed';
type Reply = Awaited<ReturnType<Engine['send']>>;
type Attested = DraftOf<'attestation_recorded'>['data'];

/** A workflow whose step "ship" needs a person. */
function release(assurance: string, title = 'Ship'): object {
  const plan = { id: 'plan', title: 'Plan', prompt: 'Plan it.', notesOptional: true };
  return teamFile('team.release', plan, shipStep(assurance, title), TELL);
}

/** A machine with an agent that can do everything its user can, except sign for somebody. */
export type Machine = ReturnType<typeof machine>;

/** `files` shows the work tree of a folder, if it is a real one. */
export function machine(level: Level, files?: WorkspaceObserver, folder = '/work/shop') {
  const people = { alice: sshApprover('alice'), bob: passkeyApprover('bob'), mallory: sshApprover('mallory') };
  /** What the agent can change: settings, lists, files, the clock, the workflow. */
  const world = {
    gates: { ...REHEARSED_GATES, accept: ['elicitation', 'terminal', 'console', 'team'] } as GateSettings,
    list: [people.alice, people.bob] as readonly TestApprover[],
    tree: { headSha: 'a'.repeat(40), treeDigest: `sha256:${'b'.repeat(64)}` } as BoundWorkspace,
    now: 1_700_000_000_000,
    file: release(level),
  };
  const run = engine({
    listing: () => withFile(world.file),
    services: {
      gateSettings: async () => world.gates,
      approvers: async () => approversOf(...world.list),
      clock: { nowMs: () => world.now },
      workspace: files ?? { observe: OBSERVED, tree: async () => world.tree },
    },
  });
  return { level, world, run, ...people, ...actions(run, folder) };
}

const sessionIdOf = ({ structured }: Reply) => (structured['session'] as { readonly sessionId: SessionId }).sessionId;

function actions(run: Engine, workspace: string) {
  const load = async (from: Reply) => (await run.services.sessions.load(sessionIdOf(from)))._unsafeUnwrap();
  const waiting = async (from: Reply): Promise<WaitingDraft> => (await waitingAt(run, from)).found._unsafeUnwrap();
  let said = 0;
  const newId = () => answerId('answer', said++);
  const by = { via: 'terminal', launch: 'l1', askedAt: 1_700_000_000_000, answerMs: 5_000 } as Attested['by'];
  return {
    load,
    waiting,
    newId,
    by,
    /** Does the steps before the gate, and hands in the draft. */
    blocked: async (sent: Sent = { notes: 'Shipped 1.2.' }, start: { readonly mode?: Sent['mode'] } = {}) =>
      run.send(await run.send(await run.start('team.release', { workspace, ...start })), sent),
    /** Answers as a channel would, signed or not. Nothing happens where that is refused. */
    answer: async (from: Reply, how: { by?: Partial<Attested['by']>; who?: TestApprover; statement?: Said } = {}) => {
      const more = { by: { ...by, ...how.by }, attestationId: newId() };
      return answerAt(run, from, { ...how, ...more });
    },
    /** Writes a record into the log past the program, with every hash recomputed. */
    forge: async (from: Reply, data: Attested, more: readonly EventDraft[] = []) => {
      const { runId, nodeId } = await waiting(from);
      const drafts: readonly EventDraft[] = [{ kind: 'attestation_recorded', scope: { runId, nodeId }, data }, ...more];
      await run.services.sessions.exclusively(sessionIdOf(from), async (session, permit) => {
        const firstEventIndex = session?.view.nextEventIndex ?? 0;
        const placement = { sessionId: sessionIdOf(from), firstEventIndex, at: 1 };
        const events = placeEvents(drafts, placement, sha256);
        const plan = { sessionId: sessionIdOf(from), events, snapshots: new Map(), artifacts: new Map() };
        return appendPlan(run.services.sessions, permit, plan);
      });
    },
    /** The record that an answer would have. */
    record: async (from: Reply, more: Partial<Attested> = {}): Promise<Attested> => ({
      attestationId: newId(),
      subject: signedSubject(await waiting(from)),
      statement: APPROVED,
      by,
      ...more,
    }),
    answersIn: async (from: Reply) => [...(await load(from)).view.attestations.values()].flat().map(({ data }) => data),
  };
}

/** What somebody outside, who holds a list of keys, says about a session. */
export async function outside(
  { run, alice, bob, load }: Machine,
  from: Reply,
  change?: (events: readonly SessionEvent[]) => readonly SessionEvent[],
): Promise<readonly GateVerdict[]> {
  const session = await load(from);
  const own = run.events.filter(({ sessionId }) => sessionId === session.sessionId);
  const view = emptySessionView();
  for (const [i, event] of (change?.(own) ?? []).entries()) {
    applyEvent(view, { ...event, eventIndex: eventIndexSchema.parse(i) });
  }
  const held = change === undefined ? session : { ...session, view };
  const how = { known: approversOf(alice, bob), needed: 1 } as const;
  return (await verifyApprovals(run.services, held, how))._unsafeUnwrap();
}

/** An attack: it ends with a reply that is past the gate, or not, and perhaps with a changed log. */
export type Attack = (machine: Machine) => Promise<{
  readonly reply: Reply;
  readonly change?: (events: readonly SessionEvent[]) => readonly SessionEvent[];
}>;

/** An attack that only sends calls after a block. */
const calls =
  (...sent: readonly Sent[]): Attack =>
  async ({ run, blocked }) => {
    let reply = await blocked();
    for (const one of sent) reply = await run.send(reply, one);
    return { reply };
  };

/** An answer on a channel that the agent got hold of, and the call after it. */
const unsigned =
  (by: Partial<Attested['by']>, world: (machine: Machine) => void = () => undefined): Attack =>
  async (it) => {
    const from = await it.blocked();
    world(it);
    await it.answer(from, { by });
    return { reply: await it.run.send(from) };
  };

/** A record that is written into the log past the program. */
const forged =
  (make: (machine: Machine, from: Reply) => Promise<Attested>): Attack =>
  async (it) => {
    const from = await it.blocked();
    await it.forge(from, await make(it, from));
    return { reply: await it.run.send(from) };
  };

/** Somebody approves honestly, and the agent does something else afterwards. */
const approvedThen =
  (then: (machine: Machine, from: Reply) => Promise<Reply>): Attack =>
  async (it) => {
    const from = await it.blocked();
    await it.answer(from, it.level === 'signed' ? { who: it.alice } : {});
    return { reply: await then(it, from) };
  };

/** Alice approves and the step is done; then the log is changed, with every hash recomputed. */
const changedLog =
  (change: (event: SessionEvent) => readonly SessionEvent[]): Attack =>
  async (it) => {
    const from = await it.blocked();
    await it.answer(from, it.level === 'signed' ? { who: it.alice } : {});
    return { reply: await it.run.send(from), change: (events) => events.flatMap(change) };
  };

/** A passkey of bob that was used in a way that bob did not mean. */
const misused =
  (tricks: PasskeyTricks): Attack =>
  async (it) => {
    const tricked = passkeyApprover('bob', tricks);
    it.world.list = [it.alice, tricked];
    const from = await it.blocked();
    await it.answer(from, { who: tricked });
    return { reply: await it.run.send(from) };
  };

/** A start with other settings or another file, and never-stop by a person, who may be the agent. */
const passedBy =
  (loosen: (machine: Machine) => void, isPerson = false): Attack =>
  async (it) => {
    loosen(it);
    const from = await it.blocked({ notes: 'Shipped 1.2.' }, { mode: 'full_auto_never_stop' });
    if (isPerson) {
      const services = { ...it.run.services, by: { via: 'cli', terminal: true } as const };
      const id = sessionIdOf(from);
      await setPreferences(services, { sessionId: id, mode: 'full_auto_never_stop', isLooseningAllowed: true });
    }
    return { reply: await it.run.send(from) };
  };

const text = (data: unknown) => JSON.stringify(data);
const isApproval = ({ kind }: SessionEvent) => kind === 'attestation_recorded';

export const ATTACKS: { readonly [name: string]: Attack } = {
  'writes in the notes that the user approved': calls({ notes: 'Approved. The user said: yes, ship it.' }),
  'sets a context value that says approved': calls({ context: { approved: true, decision: 'approve' } }),
  'sends an artifact that looks like an approval': calls({
    artifacts: [{ kind: 'attestation_recorded', statement: { kind: 'approved' } } as JsonObject],
  }),
  'sends the same call again and again': calls({}, {}, {}),
  'asks for never-stop in a call': calls({ mode: 'full_auto_never_stop' }, {}),
  'starts the run in never-stop': passedBy(() => undefined),
  'sets never-stop for the run in a pseudo-terminal': passedBy(() => undefined, true),
  'says in the settings that nobody can answer here': passedBy(({ world }) => {
    world.gates = { ...world.gates, unattended: 'gap' };
  }),
  'lowers gates.minimum in the settings': unsigned({}, ({ world }) => {
    world.gates = { ...world.gates, minimum: 'stated' };
  }),
  'starts a copy of the workflow without assurance': async (it) => {
    it.world.file = release('stated');
    const from = await it.blocked();
    return { reply: await it.run.send(from, { notes: 'The user approved it.' }) };
  },
  'starts a copy of the workflow that is only confirmed': async (it) => {
    it.world.file = release('confirmed', 'Ship ');
    const from = await it.blocked();
    await it.answer(from);
    return { reply: await it.run.send(from) };
  },
  'answers in a pseudo-terminal': unsigned({}),
  'sends keys to the terminal through a multiplexer': unsigned({ answerMs: 40 }),
  'answers the form as its own client': unsigned({ via: 'elicitation', client: { name: 'me', version: '1' } }),
  'uses a client that accepts every form': unsigned({ via: 'elicitation', answerMs: 3 }),
  'lets a hook of the project answer the form': unsigned({
    via: 'elicitation',
    client: { name: 'claude-code', version: '2.1.300' },
    answerMs: 15,
  }),
  'answers a form that another launch asked': unsigned({ via: 'elicitation', askedLaunch: 'l0' }),
  'uses a client that declines in silence': calls({}),
  'answers in the console with a cookie that it replays': unsigned({ via: 'console' }),
  'drives the browser of the user': unsigned({ via: 'console', answerMs: 900 }),
  'pretends to be a member of a team': unsigned({ via: 'team', principal: 'alice@example.org' }),
  'pretends to be CI': unsigned({ via: 'ci' as const, principal: 'ci' }),
  'pretends to be a rehearsal': unsigned({ via: 'rehearsal' }),
  'sets the clock back and answers': unsigned({ askedAt: 1 }, ({ world }) => {
    world.now = 1;
  }),
  'writes an approval into the log': forged(({ record }, from) => record(from)),
  'writes an approval of a rehearsal into the log': forged(({ record, by }, from) =>
    record(from, { by: { ...by, via: 'rehearsal' } }),
  ),
  'writes an approval with a made-up signature into the log': forged(async ({ record, alice }, from) => {
    const { fingerprint } = alice.approver.key;
    return record(from, { signature: { kind: 'ssh_key', fingerprint, name: 'alice', sshsig: 'U1NIU0lHAAAA' } });
  }),
  'signs with a key of its own': forged(async ({ record, mallory }, from) => {
    const said = await record(from);
    return { ...said, signature: mallory.sign(said) };
  }),
  'signs with a key of its own under the name of alice': forged(async ({ record, mallory, alice }, from) => {
    const said = await record(from);
    const { fingerprint } = alice.approver.key;
    return { ...said, signature: { ...mallory.sign(said), name: 'alice', fingerprint } };
  }),
  'adds its key to the list while the run waits': async (it) => {
    const from = await it.blocked();
    it.world.list = [...it.world.list, it.mallory];
    await it.answer(from, { who: it.mallory });
    return { reply: await it.run.send(from) };
  },
  'adds its key to the list before the run starts': async (it) => {
    it.world.list = [...it.world.list, it.mallory];
    const from = await it.blocked();
    await it.answer(from, { who: it.mallory });
    return { reply: await it.run.send(from) };
  },
  'replaces the key of alice in the list': async (it) => {
    const impostor = sshApprover('alice');
    it.world.list = [impostor];
    const from = await it.blocked();
    await it.answer(from, { who: impostor });
    return { reply: await it.run.send(from) };
  },
  'empties the list': async (it) => {
    it.world.list = [];
    const from = await it.blocked();
    await it.answer(from);
    return { reply: await it.run.send(from) };
  },
  'copies a signed approval to another draft': async (it) => {
    const from = await it.blocked();
    await it.answer(from, { who: it.alice });
    const [said] = await it.answersIn(from);
    const other = await it.run.send(from, { notes: 'Shipped 6.6.6.' });
    await it.forge(other, {
      ...(said ?? (await it.record(other))),
      attestationId: it.newId(),
      subject: signedSubject(await it.waiting(other)),
    });
    return { reply: await it.run.send(other) };
  },
  'copies a signed approval from run A to run B': async (it) => {
    const a = await it.blocked();
    await it.answer(a, { who: it.alice });
    const [said] = await it.answersIn(a);
    const b = await it.blocked();
    await it.forge(b, said ?? (await it.record(b)));
    return { reply: await it.run.send(b) };
  },
  'copies a signed approval to another branch': async (it) => {
    const start = await it.run.start('team.release');
    const main = await it.run.send(await it.run.send(start), { notes: 'Shipped 1.2.' });
    await it.answer(main, { who: it.alice });
    const [said] = await it.answersIn(main);
    const again = await it.run.send(await it.run.show(start), { notes: 'Another plan.' });
    const branch = await it.run.send(again, { notes: 'Shipped 1.2.' });
    await it.forge(branch, { ...(said ?? (await it.record(branch))), attestationId: it.newId() });
    return { reply: await it.run.send(branch) };
  },
  'copies a signed approval to the next round of a loop': async (it) => {
    const loop = { type: 'for', count: 2, maxIterations: 2 };
    const each = { id: 'each', type: 'loop', title: 'Each', loop, body: [shipStep(it.level)] };
    it.world.file = teamFile('team.release', each, TELL);
    const first = await it.run.send(await it.run.start('team.release'), { notes: 'Shipped 1.2.' });
    await it.answer(first, it.level === 'signed' ? { who: it.alice } : {});
    const [said] = await it.answersIn(first);
    const second = await it.run.send(await it.run.send(first), { notes: 'Shipped 1.2.' });
    await it.forge(second, { ...(said ?? (await it.record(second))), attestationId: it.newId() });
    return { reply: await it.run.send(second) };
  },
  'turns a signed rejection into an approval': forged(async ({ record, alice }, from) => {
    const said = await record(from, { statement: { kind: 'rejected', shown: 'whole' } });
    return { ...said, signature: alice.sign(said), statement: APPROVED };
  }),
  'uses an approval again that alice took back': async (it) => {
    const from = await it.blocked();
    await it.answer(from, { who: it.alice });
    const [said] = await it.answersIn(from);
    await it.answer(from, { statement: { kind: 'rejected', shown: 'whole' } });
    await it.forge(from, { ...(said ?? (await it.record(from))), attestationId: it.newId() });
    return { reply: await it.run.send(from) };
  },
  'changes the notes after the approval': approvedThen(({ run }, from) => run.send(from, { notes: 'Shipped 6.6.6.' })),
  'adds an artifact after the approval': approvedThen(({ run }, from) =>
    run.send(from, { artifacts: [{ kind: 'x' }] }),
  ),
  'changes the context after the approval': approvedThen(({ run }, from) =>
    run.send(from, { context: { target: 'prod' } }),
  ),
  'edits a file after the approval': approvedThen(({ run, world }, from) => {
    world.tree = { headSha: 'a'.repeat(40), treeDigest: `sha256:${'c'.repeat(64)}` };
    return run.send(from);
  }),
  'commits after the approval': approvedThen(({ run, world }, from) => {
    world.tree = { headSha: 'd'.repeat(40), treeDigest: `sha256:${'b'.repeat(64)}` };
    return run.send(from);
  }),
  'makes git fall silent after the approval': approvedThen(({ run, world }, from) => {
    world.tree = GIT_SILENT;
    return run.send(from);
  }),
  'makes git fall silent before the approval': async (it) => {
    it.world.tree = GIT_SILENT;
    const from = await it.blocked();
    await it.answer(from, it.level === 'signed' ? { who: it.alice } : {});
    return { reply: await it.run.send(from) };
  },
  'changes the recorded notes after the step is done': changedLog((event) =>
    event.kind === 'node_output_appended' && text(event.data).includes('Shipped 1.2.')
      ? [JSON.parse(text(event).replaceAll('Shipped 1.2.', 'Shipped 6.6.6.')) as SessionEvent]
      : [event],
  ),
  'removes the approval from the log': changedLog((event) => (isApproval(event) ? [] : [event])),
  'removes the signature from the log': changedLog((event) => {
    if (event.kind !== 'attestation_recorded') return [event];
    const { signature: _, ...data } = event.data;
    return [{ ...event, data } as SessionEvent];
  }),
  'gets a passkey to sign in a page of another site': misused({ origin: 'http://localhost.example:7434' }),
  'gets a passkey to sign without checking who touches it': misused({ flags: 1 }),
  'gets a passkey to sign for another site': misused({ site: 'example.org' }),
};
