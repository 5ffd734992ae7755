import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type * as z from 'zod';
import type { SourceList, SourceListFailure } from '../../app/ports/workflow-sources.ts';
import { schemaIssueText } from '../../core/json/schema-issue.ts';
import { sourceListSchema, type WorkflowSourceEntry } from '../../core/sources.ts';
import { isMissing, readRegular } from '../guarded-file.ts';

/** The list is a small JSON file that the user may read and edit. */
export function fileSourceList(file: string): SourceList {
  return {
    read: async () => readSourceList(file),
    write: async (sources) => {
      const draft = `${file}.${process.pid}.tmp`;
      try {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(draft, `${JSON.stringify({ v: 1, sources }, null, 2)}\n`, { mode: 0o600 });
        renameSync(draft, file);
        return ok(undefined);
      } catch (error) {
        rmSync(draft, { force: true });
        return err({ code: 'source_list_unwritable', file, cause: causeOf(error) });
      }
    },
  };
}

/** The current list; empty if there is no file. */
export function readSourceList(file: string): Result<readonly WorkflowSourceEntry[], SourceListFailure> {
  const broken = (cause: string) => err({ code: 'source_list_broken' as const, file, cause });
  let document: unknown;
  try {
    document = JSON.parse(readRegular(file).toString());
  } catch (error) {
    if (isMissing(error)) return ok([]);
    return broken(error instanceof SyntaxError ? 'not valid JSON' : causeOf(error));
  }
  const list = sourceListSchema.safeParse(document);
  return list.success
    ? ok(list.data.sources)
    : broken(list.error.issues.map((issue) => issueText(issue, document)).join('; '));
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

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
