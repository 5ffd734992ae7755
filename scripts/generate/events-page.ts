import { createHash } from 'node:crypto';
import { canonicalJson } from '../../src/core/json/canonical-json.ts';
import {
  EVENT_KINDS,
  type EventDraft,
  type EventKind,
  parseEvent,
  placeEvents,
  type SessionEvent,
  sessionEventSchema,
} from '../../src/core/log/event.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { EVENT_TEXTS, EXAMPLE_AT, EXAMPLE_SESSION } from './event-texts.ts';
import { type FieldRow, fieldRows } from './field-rows.ts';
import { type JsonSchema, jsonSchema } from './json-schemas.ts';
import { cell } from './markdown.ts';

const INTRODUCTION = `# Events

Generated from the schemas in \`src/core/log\` by \`npm run generate\`; do not edit.

A session is an append-only list of events. Each is one line of canonical JSON (RFC 8785) in a segment file; nothing is
ever changed or removed, and what you see of a session is derived from its events. \`eventIndex\` is their only order.
Text limits count UTF-8 bytes. A field that is not listed here may have been added by a newer version: readers keep it.
The same rules as JSON Schema: [event.schema.json](../../schemas/event.schema.json).`;

const ENVELOPE = `The **dedupe key** is how a retry is recognised: an event whose key the session already holds is not recorded again. It
is built from ids that a retry repeats, never from a time.`;

const SCOPES = { none: 'the session', run: 'a run (`scope.runId`)', node: 'a node (`scope.runId`, `scope.nodeId`)' };

/** The reference of all kinds of event. */
export function eventsPage(): string {
  const schemas = new Map(sessionEventSchema.options.map((option) => [option.shape.kind.value, jsonSchema(option)]));
  const examples = exampleEvents();
  const envelope = schemaOf(schemas, 'run_started');
  const { scope: _, data: __, kind: ___, ...shared } = envelope.properties ?? {};
  return `${[
    INTRODUCTION,
    '## Every event',
    fieldTable(fieldRows({ ...envelope, properties: shared })),
    'In addition, `kind` names the kind, `scope` says what the event belongs to, and `data` holds the fields below.',
    ENVELOPE,
    '## Kinds',
    EVENT_KINDS.map((kind) => `- [\`${kind}\`](#${kind})`).join('\n'),
    ...EVENT_KINDS.flatMap((kind, i) => section(kind, schemaOf(schemas, kind), examples[i])),
  ].join('\n\n')}\n`;
}

function section(kind: EventKind, schema: JsonSchema, example: SessionEvent | undefined): readonly string[] {
  const { purpose, keyRecipe, keyNote } = EVENT_TEXTS[kind];
  if (example === undefined) throw new Error(`no example of ${kind}`);
  checkRecipe(kind, example);
  const data = schema.properties?.['data'];
  const rows = typeof data === 'object' ? fieldRows(data) : [];
  const rule = typeof data === 'object' ? data.description : undefined;
  const recipe = [kind, '{sessionId}', ...keyRecipe].join(':').replaceAll(/\{(?:\w+\.)?(\w+)\}/g, '<$1>');
  return [
    `### ${kind}`,
    purpose,
    `Belongs to ${SCOPES[scopeOf(schema)]}. Dedupe key: \`${recipe}\`${keyNote === undefined ? '' : `; ${keyNote}`}.`,
    rows.length === 0 ? 'Its `data` is empty.' : fieldTable(rows),
    ...(rule === undefined ? [] : [`In \`data\`, ${rule}.`]),
    `\`\`\`json\n${canonicalJson(example)._unsafeUnwrap()}\n\`\`\``,
  ];
}

function fieldTable(rows: readonly FieldRow[]): string {
  const lines = rows.map(({ path, type, presence }) => `| \`${path}\` | ${cell(type)} | ${cell(presence)} |`);
  return ['| Field | Type | Present |', '|---|---|---|', ...lines].join('\n');
}

/** One real event of each kind, read back the way a log is read. */
function exampleEvents(): readonly SessionEvent[] {
  const drafts = EVENT_KINDS.map((kind) => ({ kind, ...EVENT_TEXTS[kind].example }) as unknown as EventDraft);
  const placement = { sessionId: EXAMPLE_SESSION as SessionId, firstEventIndex: 0, at: EXAMPLE_AT };
  const events = placeEvents(
    drafts,
    placement,
    (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
  );
  return events.map((event) => {
    const parsed = parseEvent(JSON.parse(canonicalJson(event)._unsafeUnwrap()));
    if (parsed.isErr()) throw new Error(`the example of ${event.kind} is wrong: ${JSON.stringify(parsed.error)}`);
    return parsed.value;
  });
}

/** The recipe in words must give the key that the code gave. */
function checkRecipe(kind: EventKind, event: SessionEvent): void {
  const { keyRecipe, example } = EVENT_TEXTS[kind];
  const source: unknown = { ...event, keyOnly: example.keyOnly };
  const parts = keyRecipe.map((part) =>
    part.replaceAll(/\{([\w.]+)\}/g, (_, path: string) => String(valueAt(source, path))),
  );
  const key = [kind, event.sessionId, ...parts].join(':');
  if (key !== event.dedupeKey) throw new Error(`the key recipe of ${kind} gives ${key}, the code ${event.dedupeKey}`);
}

function valueAt(source: unknown, path: string): unknown {
  return path.split('.').reduce((value, name) => (value as Record<string, unknown> | undefined)?.[name], source);
}

function scopeOf(schema: JsonSchema): keyof typeof SCOPES {
  const scope = schema.properties?.['scope'];
  const required = typeof scope === 'object' ? (scope.required ?? []) : [];
  if (required.includes('nodeId')) return 'node';
  return required.includes('runId') ? 'run' : 'none';
}

function schemaOf(schemas: ReadonlyMap<EventKind, JsonSchema>, kind: EventKind): JsonSchema {
  const schema = schemas.get(kind);
  if (schema === undefined) throw new Error(`no schema of ${kind}`);
  return schema;
}
