import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { attempt, BLOCKED, digestOf, OTHER_SESSION, ROOT, RUN, SECOND, SESSION } from '../../../test/examples/ids.ts';
import { examplePlans, PLAN_DRAFTS, PLAN_NAMES, SESSION_EVENTS } from '../../../test/examples/session.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { canonicalBytes, digestHex } from '../json/canonical-bytes.ts';
import { advanceKey } from './dedupe-key.ts';
import { EVENT_KINDS, type EventKind, type EventOf, parseEvent } from './event.ts';
import { placeEvents } from './event-draft.ts';

const first = <Kind extends EventKind>(kind: Kind): EventOf<Kind> =>
  SESSION_EVENTS.find((event): event is EventOf<Kind> => event.kind === kind) ?? expect.fail(`no ${kind}`);

test('each kind has the key of its recipe', () => {
  enforces('dedupe_key_recipes', 'dedupe_key_from_stable_ids', 'digest_strings_sha256_hex');
  const branch = canonicalBytes(first('observation_recorded').data.value)._unsafeUnwrap();
  const expected: { readonly [kind in EventKind]: string } = {
    session_created: `session_created:${SESSION}`,
    observation_recorded: `observation_recorded:${SESSION}:${ROOT}:git_branch:${digestHex(sha256(branch))}`,
    run_started: `run_started:${SESSION}:${RUN}`,
    node_created: `node_created:${SESSION}:${RUN}:${ROOT}`,
    edge_created: `edge_created:${SESSION}:${RUN}:${ROOT}->${SECOND}:acked_step`,
    advance_recorded: `advance_recorded:${SESSION}:${ROOT}:0`,
    node_output_appended: `node_output_appended:${SESSION}:${first('node_output_appended').data.outputId}`,
    preferences_changed: `preferences_changed:${SESSION}:${first('preferences_changed').data.changeId}`,
    capability_observed: `capability_observed:${SESSION}:${first('capability_observed').data.capObsId}`,
    gap_recorded: `gap_recorded:${SESSION}:${first('gap_recorded').data.gapId}`,
    divergence_recorded: `divergence_recorded:${SESSION}:${first('divergence_recorded').data.divergenceId}`,
    decision_trace_appended: `decision_trace_appended:${SESSION}:${first('decision_trace_appended').data.traceId}`,
    context_set: `context_set:${SESSION}:${first('context_set').data.contextId}`,
    step_skipped: `step_skipped:${SESSION}:${SECOND}:0`,
  };
  expect(Object.fromEntries(EVENT_KINDS.map((kind) => [kind, first(kind).dedupeKey]))).toEqual(expected);
});

test('keys are short, of safe characters and different for all events of a session', () => {
  enforces('dedupe_key_format', 'dedupe_key_on_every_event');
  const keys = SESSION_EVENTS.map(({ dedupeKey }) => dedupeKey);
  expect(keys.filter((key) => !/^[a-z0-9_:>-]{1,256}$/.test(key))).toEqual([]);
  expect(new Set(keys).size).toBe(keys.length);
});

test.each(EVENT_KINDS)('a %s whose key does not follow from it is refused', (kind) => {
  enforces('dedupe_key_recipes');
  const event = first(kind);
  const digest = digestHex(digestOf('another value'));
  const wrong = [
    event.dedupeKey.replace(kind, kind === 'gap_recorded' ? 'context_set' : 'gap_recorded'),
    event.dedupeKey.replace(SESSION, OTHER_SESSION),
    `${event.dedupeKey}:0`,
    event.dedupeKey.replace(/:[^:]*$/, ''),
    ...(kind === 'observation_recorded' ? [`observation_recorded:${SESSION}:${ROOT}:repo_root:${digest}`] : []),
    ...(kind === 'step_skipped' ? [`step_skipped:${SESSION}:${ROOT}:0`, `step_skipped:${SESSION}:${SECOND}:00`] : []),
  ];
  expect(wrong.map((dedupeKey) => parseEvent({ ...event, dedupeKey }))).toEqual(
    wrong.map((dedupeKey) => err({ code: 'wrong_dedupe_key', dedupeKey })),
  );
});

test('a key with other characters or over 256 of them is refused', () => {
  enforces('dedupe_key_format');
  const { dedupeKey } = first('run_started');
  const wrong = [`${dedupeKey} `, dedupeKey.toUpperCase(), `${dedupeKey}.`, `${dedupeKey}é`, 'a'.repeat(257), ''];
  const paths = wrong.map((key) => parseEvent({ ...first('run_started'), dedupeKey: key })._unsafeUnwrapErr());
  expect(paths.map((refusal) => refusal.code === 'wrong_shape' && refusal.path)).toEqual(wrong.map(() => '/dedupeKey'));
});

test('the key of an advance names the node, so an attempt used again elsewhere is another advance', () => {
  enforces('advance_dedupe_includes_node');
  expect(advanceKey(SESSION, ROOT, attempt(0))).toBe(first('advance_recorded').dedupeKey);
  expect(advanceKey(SESSION, BLOCKED, attempt(0))).not.toBe(advanceKey(SESSION, ROOT, attempt(0)));
  expect(advanceKey(SESSION, ROOT, attempt(1))).toBe(`advance_recorded:${SESSION}:${ROOT}:1`);
});

test('the time of an event enters neither its key nor any id', () => {
  enforces('event_at_informational', 'dedupe_key_from_stable_ids');
  const drafts = PLAN_NAMES.flatMap((name) => PLAN_DRAFTS[name]);
  const placedAt = (at: number) => placeEvents(drafts, { sessionId: SESSION, firstEventIndex: 0, at }, sha256);
  const later = placedAt(9).map((event) => ({ ...event, at: 5 }));
  expect(later).toEqual(placedAt(5));
});

test('the place of an event enters neither its key nor its id', () => {
  enforces('dedupe_key_from_stable_ids');
  const drafts = PLAN_NAMES.flatMap((name) => PLAN_DRAFTS[name]);
  const placedFrom = (firstEventIndex: number) => placeEvents(drafts, { sessionId: SESSION, firstEventIndex }, sha256);
  const identity = ({ eventId, dedupeKey }: { eventId: string; dedupeKey: string }) => [eventId, dedupeKey];
  expect(placedFrom(100).map(identity)).toEqual(placedFrom(0).map(identity));
});

test('under another session id everything stays but that id and the keys that hold it', () => {
  enforces('derived_ids_free_of_session_id');
  const under = (sessionId: typeof SESSION) => PLAN_NAMES.flatMap((name) => examplePlans(sessionId)[name].events);
  const renamed = under(OTHER_SESSION).map((event) => ({
    ...event,
    sessionId: SESSION,
    dedupeKey: event.dedupeKey.replace(OTHER_SESSION, SESSION),
  }));
  expect(renamed).toEqual(SESSION_EVENTS);
  expect(JSON.stringify(SESSION_EVENTS.map(({ data, eventId }) => ({ data, eventId })))).not.toContain(SESSION);
});
