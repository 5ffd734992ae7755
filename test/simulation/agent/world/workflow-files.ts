import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { WorkflowFile } from '../../../../src/app/ports/workflow-sources.ts';
import type { SourceFile } from '../../../compiler/compile-file.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** What every world has: the bundled workflows, their routines, and the routine that the fixtures call. */
export const COMMON_FILES: readonly WorkflowFile[] = [
  ...folder('workflows').map((file) => workflowFile(file, { kind: 'bundled' })),
  ...folder('workflows/routines').map((file) => workflowFile(file, { kind: 'bundled', isInRoutines: true })),
  ...folder('test/compiler/routines').map((file) => workflowFile(file, { kind: 'project', isInRoutines: true })),
];

/** A text as the file of a source. */
export function workflowFile(
  { name, text }: Pick<SourceFile, 'name' | 'text'>,
  of: { readonly kind: WorkflowFile['kind']; readonly isInRoutines?: boolean },
): WorkflowFile {
  const { kind, isInRoutines = false } = of;
  const content = { kind: 'text', text } as const;
  return { kind, ref: name, path: `/${kind}/${name}`, rank: kind === 'bundled' ? 0 : 1, isInRoutines, content };
}

function folder(path: string): readonly { readonly name: string; readonly text: string }[] {
  return readdirSync(`${ROOT}/${path}`)
    .filter((name) => name.endsWith('.json') && !name.endsWith('.test.json'))
    .sort()
    .map((name) => ({ name, text: readFileSync(`${ROOT}/${path}/${name}`, 'utf8') }));
}
