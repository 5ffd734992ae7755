import { describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { engine, eventsOf, tokenOf, told, withFile } from '../../../test/examples/engine.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { memoryStore } from '../../adapters/memory-store/memory-store.ts';
import { PRESETS } from '../../core/log/autonomy.ts';
import { type RunId, SessionId } from '../../core/log/ids.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { isNeverStopByPerson } from '../../core/views/node-facts.ts';
import { preferredTip } from '../../core/views/run-status.ts';
import { closeRuns } from './close-runs.ts';
import { type PreferRequest, setPreferences } from './set-preferences.ts';

const idOf = (reply: GivenReply) => SessionId.schema.parse(told(reply, 'session.sessionId'));
const { guided, full_auto_never_stop: never, full_auto_stop_on_user_deps: stopping } = PRESETS;

function world() {
  const made = engine();
  const prefer = (reply: GivenReply, wanted: Omit<PreferRequest, 'sessionId'>) =>
    setPreferences(made.services, { sessionId: idOf(reply), isLooseningAllowed: true, ...wanted });
  return { ...made, prefer };
}

describe('a preference that is set from outside', () => {
  it("a preference set from outside is recorded as the user's and applies from the next attempt on", async () => {
    enforces('preferences_set_from_cli', 'preferences_apply_forward');
    const { start, send, show, prefer, events, node } = world();
    const first = await start('test.plain');
    const second = await send(first, { notes: 'One.' });
    const written = events.length;
    const set = (await prefer(second, { mode: 'full_auto_never_stop' }))._unsafeUnwrap();
    expect(set).toMatchObject([{ tag: told(second, 'run.tag'), before: guided, effective: never, isChanged: true }]);
    expect(events.slice(written)).toMatchObject([
      {
        kind: 'preferences_changed',
        scope: { nodeId: await node(second) },
        data: { source: 'user', delta: [{ key: 'autonomy' }], effective: never },
      },
    ]);
    expect(told(await show(first), 'preferences')).toMatchObject(guided);
    expect(told(await send(second), 'preferences')).toMatchObject(never);
  });

  it('a preference above the recommendation is warned about in the next replies, and only there', async () => {
    enforces('preferences_set_from_cli');
    const file = {
      id: 'test.careful',
      name: 'Careful',
      description: 'Recommends guided.',
      recommendedPreferences: { recommendedAutonomy: 'guided' },
      steps: ['a', 'b', 'c'].map((id) => ({ id, title: id, prompt: `Do ${id}.` })),
    };
    const made = engine({ listing: () => withFile(file), services: { by: { via: 'cli', terminal: true } } });
    const first = await made.start('test.careful');
    const sessionId = idOf(first);
    await setPreferences(made.services, { sessionId, mode: 'full_auto_never_stop', isLooseningAllowed: true });
    const warned = [{ code: 'exceeds_recommended_autonomy', details: { effective: 'full_auto_never_stop' } }];
    expect(told(await made.show(first), 'warnings')).toMatchObject(warned);
    const second = await made.send(first, { notes: 'One.' });
    expect(told(second, 'warnings')).toMatchObject(warned);
    expect(told(await made.send(second, { notes: 'Two.' }), 'warnings')).toEqual([]);
  });

  it('a preference set from outside unblocks a run at the retry', async () => {
    enforces('preferences_set_from_cli');
    const { start, send, prefer, view, node } = world();
    const first = await start('test.plain');
    const blocked = await send(first);
    expect(told(blocked, 'kind')).toBe('blocked');
    (await prefer(blocked, { mode: 'full_auto_never_stop' }))._unsafeUnwrap();
    const { graph } = await view(blocked);
    const runId = [...graph.runs.keys()][0] as RunId;
    expect(preferredTip(graph, runId)?.nodeId).toBe(await node(blocked));
    expect(told(await send(blocked), 'kind')).toBe('ok');
  });

  it('a preference can be changed any number of times, and setting it again changes nothing', async () => {
    const { start, prefer, events } = world();
    const begun = await start('test.plain');
    const changes = [
      { mode: 'full_auto_never_stop' },
      { mode: 'full_auto_never_stop' },
      { mode: 'full_auto_stop_on_user_deps' },
      { riskPolicy: 'aggressive' },
      { mode: 'full_auto_stop_on_user_deps', riskPolicy: 'aggressive' },
    ] as const;
    const seen = [];
    for (const change of changes) seen.push(...(await prefer(begun, change))._unsafeUnwrap());
    expect(seen.map(({ isChanged, effective }) => [isChanged, effective])).toEqual([
      [true, never],
      [false, never],
      [true, stopping],
      [true, { ...stopping, riskPolicy: 'aggressive' }],
      [false, { ...stopping, riskPolicy: 'aggressive' }],
    ]);
    const ids = eventsOf({ events }, 'preferences_changed').map(({ data }) => data.changeId);
    expect([ids.length, new Set(ids).size]).toEqual([4, 4]);
  });

  it('a preference applies to every unfinished run of the session, or to the named one', async () => {
    const { start, show, prefer } = world();
    const one = await start('test.plain');
    const two = await start('test.modes', { attachTo: tokenOf(one, 'stateToken') });
    const tag = String(told(two, 'run.tag'));
    const named = (await prefer(one, { mode: 'full_auto_never_stop', run: tag }))._unsafeUnwrap();
    expect(named).toMatchObject([{ tag, warnings: [{ code: 'exceeds_recommended_autonomy', recommended: 'guided' }] }]);
    expect([told(await show(one), 'preferences'), told(await show(two), 'preferences')]).toMatchObject([guided, never]);
    const all = (await prefer(one, { mode: 'full_auto_never_stop' }))._unsafeUnwrap();
    expect(all.map(({ isChanged }) => isChanged)).toEqual([true, false]);
    expect(told(await show(one), 'preferences')).toMatchObject(never);
    expect(await prefer(one, { mode: 'guided', run: 'zzzz' })).toMatchObject({ error: { code: 'run_unmatched' } });
  });

  it('setting a preference skips closed runs unless one is named, which reopens it', async () => {
    enforces('closed_run_reopens');
    const store = memoryStore(sha256);
    const { start, show, services } = engine({ store });
    const one = await start('test.plain');
    const two = await start('test.plain', { attachTo: tokenOf(one, 'stateToken') });
    const [sessionId, run] = [idOf(two), String(told(two, 'run.tag'))];
    const prefer = async (wanted: Omit<PreferRequest, 'sessionId'>) =>
      (await setPreferences(services, { sessionId, isLooseningAllowed: true, ...wanted }))._unsafeUnwrap();
    await closeRuns({ sessions: services.sessions, marks: store.marks }, { sessionId, run, isUndone: false });
    expect(await prefer({ mode: 'full_auto_never_stop' })).toMatchObject([
      { tag: told(one, 'run.tag'), isReopened: false },
    ]);
    expect(told(await show(two), 'preferences')).toMatchObject(guided);
    expect(await prefer({ mode: 'guided', run })).toMatchObject([{ tag: run, isChanged: false, isReopened: false }]);
    expect(await prefer({ mode: 'full_auto_never_stop', run })).toMatchObject([{ tag: run, isReopened: true }]);
  });

  it('setting a preference is refused if no run is unfinished', async () => {
    const { services, start, send, prefer, events } = world();
    let at = await start('test.plain');
    while (told(at, 'isComplete') !== true) at = await send(at, { notes: 'Done.' });
    const written = events.length;
    const over = (await prefer(at, { mode: 'guided' }))._unsafeUnwrapErr();
    expect(over).toEqual({ code: 'nothing_unfinished', sessionId: idOf(at) });
    const gone = SessionId.of(new Uint8Array(10));
    const missing = await setPreferences(services, { sessionId: gone, mode: 'guided' });
    expect(missing._unsafeUnwrapErr()).toEqual({ code: 'session_not_found', sessionId: gone });
    expect(events.length).toBe(written);
  });
});

describe('a preference that allows the agent more', () => {
  it('is refused unless a person confirmed it, and tightening needs nobody', async () => {
    enforces('loosening_needs_terminal');
    const { start, prefer, events } = world();
    const begun = await start('test.plain', { mode: 'full_auto_stop_on_user_deps' });
    const written = events.length;
    const isLooseningAllowed = false;
    for (const wanted of [{ mode: 'full_auto_never_stop' }, { riskPolicy: 'aggressive' }] as const) {
      const refused = (await prefer(begun, { ...wanted, isLooseningAllowed }))._unsafeUnwrapErr();
      expect(refused).toMatchObject({ code: 'loosening_unconfirmed', runs: [{ before: stopping }] });
    }
    expect(events).toHaveLength(written);
    expect((await prefer(begun, { mode: 'guided', isLooseningAllowed })).isOk()).toBe(true);
    expect((await prefer(begun, { riskPolicy: 'conservative', isLooseningAllowed })).isOk()).toBe(true);
  });

  it("a person can stand for the never-stop that the agent set, and that is recorded as the person's", async () => {
    enforces('never_stop_by_person');
    const { start, events, services, view, node } = world();
    const begun = await start('test.plain', { mode: 'full_auto_never_stop' });
    const sessionId = idOf(begun);
    const mode = 'full_auto_never_stop';
    const isPassing = async () => isNeverStopByPerson(await view(begun), await node(begun));
    expect(await isPassing()).toBe(false);
    expect((await setPreferences(services, { sessionId, mode }))._unsafeUnwrapErr().code).toBe('loosening_unconfirmed');
    const person = { ...services, by: { via: 'cli', terminal: true } as const };
    (await setPreferences(person, { sessionId, mode, isLooseningAllowed: true }))._unsafeUnwrap();
    expect(events.at(-1)).toMatchObject({ by: person.by, data: { source: 'user', delta: [{ key: 'autonomy' }] } });
    expect(await isPassing()).toBe(true);
    const written = events.length;
    (await setPreferences(person, { sessionId, mode }))._unsafeUnwrap();
    expect(events).toHaveLength(written);
  });
});
