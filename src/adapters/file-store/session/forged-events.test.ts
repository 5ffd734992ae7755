import { relative } from 'node:path';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { type AuditedFolder, auditedFolder, sessionId } from '../../../../test/audited-folder.ts';
import { appendOne } from '../../../../test/contract/store-under-test.ts';
import { enforces } from '../../../../test/enforces.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { type FieldRules, removals, replacements } from '../../../../test/examples/single-field-changes.ts';
import { forgeLast } from '../../../../test/forge-last.ts';
import { OTHER_KINDS } from '../../../../test/simulation/node-facts.ts';
import { type SessionWriter, sessionWriter, type WrittenNode } from '../../../../test/simulation/session-writer.ts';
import { share } from '../../../../test/volume.ts';
import { EVENT_KINDS, type SessionEvent } from '../../../core/log/event.ts';
import { foldEvents } from '../../../core/views/session-view.ts';
import { layout } from '../disk/disk.ts';
import { storeOf } from '../file-store.ts';
import { emptySession, refreshSession } from './refresh-session.ts';

test('events that no view can apply are damage, and everything before them can be read', async () => {
  enforces('views_salvage_labelled');
  const folder = await auditedFolder();
  const events = lastEvents(folder);
  forge(folder, withOne(events, events.length - 1, { ...events.at(-1), data: null }));
  const damage = { reason: 'segment_wrong_events', place: lastPlace(folder), offset: offsetOfLast(events) };
  const { sessions } = storeOf(folder.parts);
  expect(await sessions.load(sessionId)).toEqual(err({ code: 'damaged', damage }));
  const before = folder.writer.events.slice(0, -events.length);
  const health = { kind: 'corrupt_tail', damage };
  expect(await sessions.loadValidPrefix(sessionId)).toEqual(
    ok({ kind: 'salvaged', sessionId, health, view: foldEvents(before) }),
  );
});

test('forged events are also found by a reader that has read everything before, and a repaired end is read again', async () => {
  const folder = await auditedFolder();
  const { sessions } = storeOf(folder.parts);
  const whole = await sessions.load(sessionId);
  expect(whole.isOk()).toBe(true);
  const root = folder.writer.events.find((event) => event.kind === 'node_created') ?? expect.fail('a root');
  folder.writer.record({ ...root.scope } as WrittenNode, { context: { key: 1 } });
  const plan = folder.writer.plans.at(-1) ?? expect.fail('a plan');
  await appendOne(storeOf(folder.parts).sessions, plan);

  const events = lastEvents(folder);
  forge(folder, withOne(events, 0, { ...events[0], scope: null }));
  const place = expect.stringContaining(layout.events(sessionId));
  const damage = { reason: 'segment_wrong_events', place, offset: 0 };
  expect(await sessions.load(sessionId)).toEqual(err({ code: 'damaged', damage }));
  forge(folder, events);
  const view = foldEvents(folder.writer.events);
  expect(await sessions.load(sessionId)).toEqual(ok({ kind: 'whole', sessionId, view }));
});

const NO_RULES: FieldRules = { opaque: [], nullable: [], texts: {}, emptyTexts: [] };

/** Between them the last appends of these sessions hold an event of every kind. */
const ENDINGS: { readonly [what: string]: (writer: SessionWriter, root: WrittenNode) => void } = {
  'another run': (writer) => void writer.startRun(),
  'a step with all that a step can have': (writer, root) =>
    void writer.advance(root, {
      note: { name: 'last', text: 'a note' },
      context: { key: 1 },
      mode: 'guided',
      gaps: [{ name: 'gap' }],
      capability: { capability: 'web_browsing', grade: 'weak', status: 'available' },
      trace: 'chosen',
      others: OTHER_KINDS,
      observed: { git_branch: 'main' },
    }),
};

test.each(Object.entries(ENDINGS))(
  'after %s any field of it can be forged, and loading only refuses',
  async (_, end) => {
    const folder = await auditedFolder(end);
    const events = lastEvents(folder);
    const told = new Map<string, number>();
    for (const [i, event] of events.entries()) {
      for (const { document } of share([...removals(event, NO_RULES), ...replacements(event, NO_RULES)])) {
        forge(folder, withOne(events, i, document));
        const { sessions } = storeOf(folder.parts);
        const loaded = await sessions.load(sessionId);
        const code = loaded.isOk() ? 'not looked at' : loaded.error.code;
        told.set(code, (told.get(code) ?? 0) + 1);
      }
    }
    expect([...told.keys()].sort()).toEqual(['damaged', 'not looked at', 'unknown_version']);
  },
);

test('every kind of event except the first is covered by the forgeries', () => {
  const kinds = Object.values(ENDINGS).flatMap((end) => {
    const writer = sessionWriter();
    end(writer, writer.startRun());
    return writer.plans.at(-1)?.events.map(({ kind }) => kind) ?? [];
  });
  expect([...new Set(['session_created', ...kinds])].sort()).toEqual([...EVENT_KINDS].sort());
});

test('a view that fails on valid events is a bug and damages nothing', async () => {
  const folder = await auditedFolder();
  const elsewhere = foldEvents(folder.writer.events.slice(0, 1));
  const wrong = { ...emptySession(sessionId, sha256), view: elsewhere };
  expect(() => refreshSession(folder.parts.disk, wrong, sha256)).toThrow('bug: event 0 came as number 1');
});

function lastEvents({ writer }: AuditedFolder): readonly SessionEvent[] {
  return writer.plans.at(-1)?.events ?? [];
}

function lastPlace({ path, segments }: AuditedFolder): string {
  return relative(path(''), segments.at(-1) ?? '');
}

function forge(folder: AuditedFolder, events: readonly unknown[]): void {
  forgeLast(folder.path(layout.session(sessionId)), () => events);
}

function withOne(events: readonly unknown[], at: number, one: unknown): readonly unknown[] {
  return events.map((event, i) => (i === at ? one : event));
}

function offsetOfLast(events: readonly SessionEvent[]): number {
  return events.slice(0, -1).reduce((sum, event) => sum + Buffer.byteLength(JSON.stringify(event)) + 1, 0);
}
