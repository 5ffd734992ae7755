import * as z from 'zod';
import { commandShape, commandShapes } from '../../src/cli/command-shape.ts';
import { welcome } from '../../src/cli/welcome.ts';
import { scenarioFileSchema, scriptSchema } from '../../src/core/author/scenario.ts';
import { bundleSchema } from '../../src/core/bundle/bundle-document.ts';
import { jsonObjectSchema } from '../../src/core/log/document-schema.ts';
import { errorEnvelopeSchema } from '../../src/core/log/error-envelope.ts';
import { sessionEventSchema } from '../../src/core/log/event.ts';
import { executionSnapshotSchema } from '../../src/core/log/execution-snapshot.ts';
import { manifestRecordSchema } from '../../src/core/log/manifest.ts';
import { mergeGateSchema } from '../../src/core/passport/merge-gate.ts';
import { statementSchema } from '../../src/core/passport/passport.ts';
import { replySchema } from '../../src/core/prompt/reply-schema.ts';
import { reportSchema } from '../../src/core/report/report.ts';
import { keyringDocumentSchema } from '../../src/core/token/keyring.ts';
import { compiledWorkflowSchema } from '../../src/core/workflow/compiled/compiled-workflow.ts';
import { inspectReplyShape, listReplyShape, resumeReplyShape, sessionReplyShape } from '../../src/mcp/reply-shapes.ts';

const welcomeShape = commandShape('workrail', welcome.data);

const COMMAND_SHAPES = await commandShapes();

/** A document that is stored or sent, and whose shape others may rely on. */
export type Document = { readonly name: string; readonly title: string; readonly schema: z.ZodType };

export const DOCUMENTS: readonly Document[] = [
  { name: 'event', title: 'One line of a session log', schema: sessionEventSchema },
  { name: 'manifest-record', title: 'One line of a session manifest', schema: manifestRecordSchema },
  { name: 'execution-snapshot', title: 'The state from which a run continues', schema: executionSnapshotSchema },
  { name: 'compiled-workflow', title: 'The workflow a run is pinned to', schema: compiledWorkflowSchema },
  { name: 'scenarios', title: 'Test scenarios of a workflow, in the file next to it', schema: scenarioFileSchema },
  { name: 'script', title: 'What the agent sends during a dry run', schema: scriptSchema },
  { name: 'bundle', title: 'An exported session', schema: bundleSchema },
  { name: 'passport', title: 'The statement in a passport', schema: statementSchema },
  { name: 'merge-gate', title: 'What a merge needs, in .workrail/merge-gate.json', schema: mergeGateSchema },
  { name: 'report', title: 'A report of sessions, as export --as json writes it', schema: reportSchema },
  { name: 'keyring', title: 'The keys that sign tokens', schema: keyringDocumentSchema },
  { name: 'reply', title: 'The structured reply of a tool that runs a workflow', schema: replySchema },
  { name: 'list-reply', title: 'The structured reply of list_workflows', schema: listReplyShape },
  { name: 'inspect-reply', title: 'The structured reply of inspect_workflow', schema: inspectReplyShape },
  { name: 'resume-reply', title: 'The structured reply of resume_session', schema: resumeReplyShape },
  { name: 'session-reply', title: 'The structured reply of start_session', schema: sessionReplyShape },
  { name: 'error-envelope', title: 'An error, the same for tools and commands', schema: errorEnvelopeSchema },
  { name: 'cli-workrail', title: 'What workrail --json prints', schema: welcomeShape },
  ...Object.entries(COMMAND_SHAPES).map(([command, schema]) => ({
    name: `cli-${command.replaceAll(' ', '-')}`,
    title: `What workrail ${command} --json prints`,
    schema,
  })),
];

export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** The JSON Schema of a document. */
export function documentSchema({ name, title, schema }: Document): JsonSchema {
  const { $schema, ...body } = jsonSchema(schema);
  return inOrder({ ...($schema === undefined ? {} : { $schema }), $id: `${name}.schema.json`, title, ...body });
}

/** JSON Schema cannot say what a refinement checks, so its words become the description. */
export function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: json }) => {
      const { def } = zodSchema._zod;
      if (isJsonObject(def)) json.type = 'object';
      const words = wordsOf(def);
      if (words.length > 0) json.description = words.join('; ');
    },
  });
}

type SchemaDef = z.core.$ZodTypes['_zod']['def'];

/** Also true of a refined copy: it keeps the function that was given first. */
function isJsonObject(def: SchemaDef): boolean {
  return def.type === 'custom' && def.fn === (jsonObjectSchema._zod.def as z.core.$ZodCustomDef).fn;
}

function wordsOf(def: SchemaDef): readonly string[] {
  const own = def.type === 'custom' ? [def] : [];
  const checks = (def.checks ?? []).map((check) => check._zod.def).filter(({ check }) => check === 'custom');
  return [...own, ...checks].flatMap(({ error }) => {
    const said = (error as z.core.$ZodErrorMap | undefined)?.({ code: 'custom', input: undefined, path: [] });
    return typeof said === 'string' ? [said] : [];
  });
}

const KEYWORDS = ['$schema', '$id', 'title', 'description', 'type', 'const', 'enum', 'pattern'];

/** One order of keywords, whatever the library's; properties stay in the order of the source. */
function inOrder(schema: JsonSchema): JsonSchema {
  const rank = (keyword: string) => (KEYWORDS.includes(keyword) ? KEYWORDS.indexOf(keyword) : KEYWORDS.length);
  const entries = Object.entries(schema).sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, nestedInOrder(keyword, value)]));
}

function nestedInOrder(keyword: string, value: unknown): unknown {
  if (keyword === 'properties' || keyword === '$defs') {
    const schemas = Object.entries(value as Record<string, JsonSchema>);
    return Object.fromEntries(schemas.map(([name, schema]) => [name, inOrder(schema)]));
  }
  if (['oneOf', 'anyOf', 'allOf', 'prefixItems'].includes(keyword)) return (value as JsonSchema[]).map(inOrder);
  const isSchema = ['items', 'not', 'additionalProperties', 'propertyNames'].includes(keyword);
  return isSchema && typeof value === 'object' && value !== null ? inOrder(value as JsonSchema) : value;
}
