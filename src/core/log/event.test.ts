import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { fieldsOf, jsonSchema } from '../../../test/examples/event-schema.ts';
import { eventFields, OPTIONAL_EVENT_FIELDS } from '../../../test/examples/field-rules.ts';
import { attempt, BLOCKED, digestOf, OTHER_SESSION, ROOT, RUN, SECOND, SESSION } from '../../../test/examples/ids.ts';
import { examplePlans, PLAN_DRAFTS, PLAN_NAMES, SESSION_EVENTS } from '../../../test/examples/session.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { removals, replacements, without, withValue } from '../../../test/examples/single-field-changes.ts';
import { canonicalBytes, digestHex } from '../json/canonical-json.ts';
import {
  advanceKey,
  EVENT_KINDS,
  type EventKind,
  type EventOf,
  type EventRefusal,
  parseEvent,
  placeEvents,
  type SessionEvent,
  sessionEventSchema,
} from './event.ts';

const EXAMPLES = SESSION_EVENTS.map((event) => [`${event.kind} at ${event.eventIndex}`, event] as const);
const example = <Kind extends EventKind>(kind: Kind): EventOf<Kind> =>
  SESSION_EVENTS.find((event): event is EventOf<Kind> => event.kind === kind) ?? expect.fail(`no example of ${kind}`);

test('the kinds of events are exactly these, each with an example', () => {
  enforces('event_kinds_closed');
  expect(EVENT_KINDS).toEqual([
    'session_created',
    'observation_recorded',
    'run_started',
    'node_created',
    'edge_created',
    'advance_recorded',
    'node_output_appended',
    'preferences_changed',
    'capability_observed',
    'gap_recorded',
    'divergence_recorded',
    'decision_trace_appended',
    'context_set',
    'step_skipped',
    'attestation_recorded',
  ]);
  expect(new Set(SESSION_EVENTS.map(({ kind }) => kind))).toEqual(new Set(EVENT_KINDS));
});

test.each(EXAMPLES)('the example %s is parsed unchanged', (_, event) => {
  expect(parseEvent(event)).toEqual(ok(event));
});

test.each(EXAMPLES)('%s is refused without a required field, and read without an optional one', (_, event) => {
  enforces('event_envelope_fields', 'dedupe_key_on_every_event', 'schema_changes_additive_within_version');
  for (const { path, field, document } of removals(event, eventFields(event))) {
    const isOptional = OPTIONAL_EVENT_FIELDS[event.kind].includes(field);
    const offence = parseEvent(document).match(() => 'none', pathOf);
    expect([path, offence]).toEqual([path, isOptional ? 'none' : unionOf(path)]);
  }
});

test('every optional field occurs in an example', () => {
  const seen = SESSION_EVENTS.flatMap((event) =>
    removals(event, eventFields(event))
      .filter(({ field }) => OPTIONAL_EVENT_FIELDS[event.kind].includes(field))
      .map(({ field }) => `${event.kind}${field}`),
  );
  const listed = EVENT_KINDS.flatMap((kind) => OPTIONAL_EVENT_FIELDS[kind].map((field) => `${kind}${field}`));
  expect(new Set(seen)).toEqual(new Set(listed));
});

test.each(EXAMPLES)('%s is refused with any one field of a wrong type or value, and the field is named', (_, event) => {
  enforces('text_budgets_count_utf8_bytes', 'digest_strings_sha256_hex', 'ids_lower_case_base32');
  for (const { path, what, document } of replacements(event, eventFields(event))) {
    const offence = parseEvent(document).match(() => 'none', pathOf);
    expect([path, what, offence]).toEqual([path, what, unionOf(path)]);
  }
});

test('a text may fill its budget to the last byte', () => {
  enforces('text_budgets_count_utf8_bytes');
  for (const event of SESSION_EVENTS) {
    for (const [path, bytesMax] of textPaths(event)) {
      expect([path, parseEvent(withValue(event, path, 'é'.repeat(bytesMax / 2))).isOk()]).toEqual([path, true]);
    }
  }
});

test('an unknown field is kept at every level that a newer version may extend', () => {
  enforces('unknown_fields_rule', 'schema_changes_additive_within_version');
  const newer = [
    { ...example('node_created'), later: { deep: [1] } },
    withValue(example('session_created'), '/data/later', 'kept'),
    withValue(example('node_created'), '/data/later', 'kept'),
    withValue(example('node_created'), '/scope/later', 'kept'),
    withValue(example('preferences_changed'), '/data/later', 'kept'),
    withValue(example('decision_trace_appended'), '/data/entries/0/later', 'kept'),
  ];
  expect(newer.map((event) => parseEvent(event))).toEqual(newer.map((event) => ok(event)));
});

test('an unknown version is distinguished from damage, and the rest of the event is not checked', () => {
  enforces('unknown_version_fails_fast', 'durable_types_are_versioned');
  expect(parseEvent({ v: 2, kind: 'run_started' })).toEqual(err({ code: 'unknown_version', version: 2 }));
  expect(parseEvent({ ...example('run_started'), v: '1' })).toEqual(err({ code: 'unknown_version', version: '1' }));
  expect(fieldsOf(jsonSchema(sessionEventSchema)).filter((fields) => !/ v$/.test(fields))).toEqual([]);
  for (const event of SESSION_EVENTS) {
    expect([event.kind, event.v]).toEqual([event.kind, 1]);
    expect(refusedAt(without(event, '/v'))).toBe('/v');
  }
});

test('an unknown kind in a known version is distinguished from damage', () => {
  enforces('unknown_event_kind_is_unknown_version');
  expect(parseEvent({ v: 1, kind: 'run_paused', data: 7 })).toEqual(err({ code: 'unknown_kind', kind: 'run_paused' }));
});

test.each([null, 'text', [], 7])('%j is not an event', (value) => {
  expect(parseEvent(value).match(() => 'read', pathOf)).toBe('');
});

test('a session_created event has no data', () => {
  enforces('session_created_is_bare');
  const { eventId, dedupeKey, at } = example('session_created');
  expect(example('session_created')).toEqual({
    v: 1,
    eventId,
    eventIndex: 0,
    sessionId: 'sess_0123456789abcdef',
    kind: 'session_created',
    dedupeKey,
    data: {},
    at,
  });
  expect(refusedAt({ ...example('session_created'), scope: {} })).toBe('/scope');
});

test('scope holds run and node where the kind has them, and nowhere else', () => {
  enforces('event_refs_live_in_scope', 'run_started_shape', 'node_created_shape', 'step_skipped_shape');
  const scoped = (event: SessionEvent) => ('scope' in event ? Object.keys(event.scope ?? {}) : []);
  const scopes = EVENT_KINDS.map((kind) => [kind, scoped(example(kind)).join(' ')]);
  expect(Object.fromEntries(scopes)).toEqual({
    session_created: '',
    observation_recorded: '',
    run_started: 'runId',
    edge_created: 'runId',
    ...Object.fromEntries(
      EVENT_KINDS.filter(
        (kind) => !['session_created', 'observation_recorded', 'run_started', 'edge_created'].includes(kind),
      ).map((kind) => [kind, 'runId nodeId']),
    ),
  });
  const { runId, nodeId } = example('node_created').scope;
  expect(refusedAt({ ...example('observation_recorded'), scope: { runId } })).toBe('/scope');
  expect(refusedAt(withValue(example('run_started'), '/scope/nodeId', nodeId))).toBe('/scope/nodeId');
  expect(refusedAt(withValue(example('edge_created'), '/scope/nodeId', nodeId))).toBe('/scope/nodeId');
  expect(SESSION_EVENTS.filter(({ data }) => 'runId' in data || 'nodeId' in data)).toEqual([]);
});

test('an event index counts from zero, and a time is optional and never negative', () => {
  enforces('event_index_starts_at_zero', 'event_envelope_fields');
  expect(SESSION_EVENTS.map(({ eventIndex }) => Number(eventIndex))).toEqual([...SESSION_EVENTS.keys()]);
  expect(parseEvent({ ...example('node_created'), eventIndex: 0xffff_ffff }).isOk()).toBe(true);
  expect(refusedAt({ ...example('node_created'), eventIndex: 0x1_0000_0000 })).toBe('/eventIndex');
  expect(parseEvent(without(example('node_created'), '/at')).isOk()).toBe(true);
});

function textPaths(event: SessionEvent): readonly (readonly [string, number])[] {
  const rules = eventFields(event);
  return removals(event, rules).flatMap(({ path, field }) => {
    const bytesMax = rules.texts[field];
    return bytesMax === undefined || bytesMax === Number.POSITIVE_INFINITY ? [] : [[path, bytesMax] as const];
  });
}

function refusedAt(event: unknown): string {
  return parseEvent(event).match(() => 'none', pathOf);
}

function pathOf(refusal: EventRefusal): string {
  switch (refusal.code) {
    case 'unknown_version':
      return '/v';
    case 'unknown_kind':
      return '/kind';
    case 'wrong_dedupe_key':
      return '/dedupeKey';
    default:
      return refusal.path;
  }
}

/** A part of a reply is a text or a hole, so what is wrong inside a hole is wrong with the part. */
function unionOf(path: string): string {
  return path.replace(/^(\/data\/reply\/text\/\d+)\/.*$/, '$1');
}

const first = <Kind extends EventKind>(kind: Kind): EventOf<Kind> =>
  SESSION_EVENTS.find((event): event is EventOf<Kind> => event.kind === kind) ?? expect.fail(`no ${kind}`);

test('each kind has the key of its recipe', () => {
  enforces('dedupe_key_recipes', 'dedupe_key_from_stable_ids', 'dedupe_key_format', 'digest_strings_sha256_hex');
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
    attestation_recorded: `attestation_recorded:${SESSION}:${first('attestation_recorded').data.attestationId}`,
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

test('the time of an event is part of neither its key nor any id', () => {
  enforces('event_at_informational', 'dedupe_key_from_stable_ids');
  const drafts = PLAN_NAMES.flatMap((name) => PLAN_DRAFTS[name]);
  const placedAt = (at: number) => placeEvents(drafts, { sessionId: SESSION, firstEventIndex: 0, at }, sha256);
  const later = placedAt(9).map((event) => ({ ...event, at: 5 }));
  expect(later).toEqual(placedAt(5));
});

test('the index of an event is part of neither its key nor its id', () => {
  enforces('dedupe_key_from_stable_ids');
  const drafts = PLAN_NAMES.flatMap((name) => PLAN_DRAFTS[name]);
  const placedFrom = (firstEventIndex: number) => placeEvents(drafts, { sessionId: SESSION, firstEventIndex }, sha256);
  const identity = ({ eventId, dedupeKey }: { eventId: string; dedupeKey: string }) => [eventId, dedupeKey];
  expect(placedFrom(100).map(identity)).toEqual(placedFrom(0).map(identity));
});

test('under another session id only that id and the dedupe keys change', () => {
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
