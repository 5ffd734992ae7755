import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type * as z from 'zod';
import type { SourceList, SourceListFailure } from '../../app/ports/workflow-sources.ts';
import { parseJson, quote } from '../../core/json/json-value.ts';
import { repeatedName } from '../../core/json/repeated-name.ts';
import { schemaIssueText } from '../../core/json/schema-issue.ts';
import { sourceListSchema, type WorkflowSourceEntry } from '../../core/sources.ts';
import { isMissing, quietly, readRegular } from '../guarded-file.ts';

/** The list is a small JSON file that the user may read and edit. */
export function fileSourceList(file: string): SourceList {
  return {
    read: async () => readSourceList(file),
    write: async (sources) => putDocument(file, { v: 1, sources }),
  };
}

/** Replaces a file at once. If its folder is new, the same people can open it. */
export function putDocument(file: string, document: object, mode = 0o600): Result<void, SourceListFailure> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: mode | ((mode & 0o444) >> 2) });
    writeFileSync(draft, `${JSON.stringify(document, null, 2)}\n`, { mode });
    renameSync(draft, file);
    return ok(undefined);
  } catch (error) {
    // Without a folder there is no draft, and removing it would fail for the same reason.
    quietly(() => rmSync(draft, { force: true }));
    return err({ code: 'source_list_unwritable', file, cause: causeOf(error) });
  }
}

/** The current list; empty if there is no file. */
export function readSourceList(file: string): Result<readonly WorkflowSourceEntry[], SourceListFailure> {
  let text: string;
  try {
    text = readRegular(file).toString();
  } catch (error) {
    if (isMissing(error)) return ok([]);
    return err({ code: 'source_list_broken', file, cause: causeOf(error) });
  }
  return parseSourceDocument(file, text, sourceListSchema).map(({ sources }) => sources);
}

/** The content of a file about sources, or what is wrong with it. */
export function parseSourceDocument<Document>(
  file: string,
  text: string,
  schema: z.ZodType<Document>,
): Result<Document, SourceListFailure> {
  const broken = (cause: string) => err({ code: 'source_list_broken' as const, file, cause });
  const document = parseJson(text);
  if (document.isErr()) return broken('not valid JSON');
  const twice = repeatedName(text);
  if (twice !== undefined) return broken(`${quote(twice)} is written twice in one object; remove one of them`);
  const read = schema.safeParse(document.value);
  return read.success
    ? ok(read.data)
    : broken(read.error.issues.map((issue) => issueText(issue, document.value)).join('; '));
}

/** A place in the file, and what is wrong there. */
function issueText(issue: z.core.$ZodIssue, document: unknown): string {
  const place = issue.path.reduce<string>(
    (at, key) => (typeof key === 'number' ? `${at}[${key}]` : `${at}${at === '' ? '' : '.'}${String(key)}`),
    '',
  );
  const isThere = issue.path.reduce<unknown>((at, key) => Object(at)[key], document) !== undefined;
  const words = schemaIssueText(issue, { isThere });
  return `${place === '' ? 'the file' : place}: ${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}

/** Why file access failed: the code of the system, if there is one. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
