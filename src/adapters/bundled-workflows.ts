import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Result } from 'neverthrow';
import type { WorkflowFile, WorkflowSource } from '../app/ports/workflow-source.ts';

const parseJson = Result.fromThrowable(JSON.parse as (text: string) => unknown);

/** The workflows that come with the program. */
export function bundledWorkflows(dir: string): WorkflowSource {
  let files: readonly WorkflowFile[] | undefined;
  return {
    files: async () => {
      files ??= await readAll(dir);
      return files;
    },
  };
}

async function readAll(dir: string): Promise<readonly WorkflowFile[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(dir, name), 'utf8');
      return { kind: 'bundled' as const, ref: name, content: parseJson(text).unwrapOr(undefined) };
    }),
  );
}
