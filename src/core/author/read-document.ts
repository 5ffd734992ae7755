import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { quote } from '../json/json-value.ts';
import { schemaIssueText } from '../json/schema-issue.ts';
import { nearest } from '../text/spelling.ts';
import { collectDiagnostics, type Position, sourcePosition } from '../workflow/diagnostics/diagnostic.ts';
import { parseSource } from '../workflow/source/parse-source.ts';
import { nodeAt, plainValue, pointerTo, type SourceNode } from '../workflow/source/source-node.ts';

/** A problem in a document of an author, and its position. */
export type DocumentProblem = Position & { readonly pointer: string; readonly message: string };

/** Reads a document by its schema and reports all problems at once, each with its position. */
export function readDocument<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
): Result<z.infer<Schema>, readonly DocumentProblem[]> {
  const diagnostics = collectDiagnostics();
  const parsed = parseSource(text, diagnostics);
  if (parsed.isErr()) return err([{ ...sourcePosition(text, parsed.error.span), ...said(parsed.error) }]);
  const odd = diagnostics.all().map((one) => ({ ...sourcePosition(text, one.span), ...said(one) }));
  const read = schema.safeParse(plainValue(parsed.value));
  if (read.success && odd.length === 0) return ok(read.data);
  const root = parsed.value;
  const issues = read.success ? [] : read.error.issues.flatMap((issue) => problemsOf(issue, { root, text, schema }));
  return err([...odd, ...issues]);
}

/** A problem with the value at a pointer, in a text that can be parsed. */
export function problemAt(text: string, pointer: string, message: string): DocumentProblem {
  const parsed = parseSource(text, collectDiagnostics());
  const span = parsed.isOk() ? nodeAt(parsed.value, pointer).span : { offset: 0, length: 0 };
  return { ...sourcePosition(text, span), pointer, message };
}

function said({ pointer, message }: DocumentProblem | { readonly pointer: string; readonly message: string }) {
  return { pointer, message };
}

type Document = { readonly root: SourceNode; readonly text: string; readonly schema: z.ZodType };

function problemsOf(issue: z.core.$ZodIssue, { root, text, schema }: Document): readonly DocumentProblem[] {
  const pointer = issue.path.reduce<string>((at, key) => pointerTo(at, typeof key === 'symbol' ? '' : key), '');
  if (issue.code !== 'unrecognized_keys') {
    const node = nodeAt(root, pointer);
    const isThere = node.pointer === pointer;
    const words = schemaIssueText(issue, { isThere });
    const key = issue.path.at(-1);
    // The position is that of the object around it, so the words must name what is missing.
    const message = `${isThere || typeof key !== 'string' ? words : words.replace(/^It\b/, quote(key))}.`;
    return [{ ...sourcePosition(text, node.span), pointer, message }];
  }
  const node = nodeAt(root, pointer);
  const known = keysAt(schema, issue.path);
  return issue.keys.map((key) => {
    const span = node.kind === 'object' ? (node.fields.get(key)?.nameSpan ?? node.span) : node.span;
    const meant = nearest(key, known);
    const hint = meant === undefined ? `It may be ${known.join(', ')}.` : `Did you mean "${meant}"?`;
    return {
      ...sourcePosition(text, span),
      pointer: pointerTo(pointer, key),
      message: `"${key}" is not known here. ${hint}`,
    };
  });
}

/** The keys that the object at a path may have. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at: unknown = schema;
  for (const key of path) {
    at = unwrapped(at);
    at = at instanceof z.ZodObject ? at.shape[String(key)] : at instanceof z.ZodArray ? at.element : undefined;
  }
  const object = unwrapped(at);
  return object instanceof z.ZodObject ? Object.keys(object.shape) : [];
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional ? unwrapped(schema.unwrap()) : schema;
}
