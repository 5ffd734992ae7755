import { re2Patterns } from '../../src/adapters/patterns.ts';
import { nodeHasher } from '../../src/adapters/system.ts';
import type { CatalogTools } from '../../src/app/catalog/assemble-catalog.ts';
import type { Catalog } from '../../src/app/catalog/catalog.ts';
import { fileCompiler } from '../../src/app/catalog/compile-files.ts';
import { workflowCatalog } from '../../src/app/catalog/workflow-catalog.ts';
import type { SourceFile, WorkflowFile } from '../../src/app/ports/workflow-sources.ts';
import { type CompileInput, compileWorkflow } from '../../src/core/workflow/compile-workflow.ts';

const RANKS = { bundled: 0, plugin: 0, remote: 0, user: 1, project: 2 } as const;
const { sha256 } = nodeHasher;
const compilePattern = re2Patterns();

/** The place of a file. Default: the project. */
export type FilePlace = { readonly kind?: keyof typeof RANKS; readonly ref?: string; readonly rank?: number };

/** The text of a workflow with one step and the given fields. */
export function workflowText(id: string, more: object = {}): string {
  const steps = [{ id: 'only', title: 'Only', prompt: 'Do it.' }];
  return JSON.stringify({ id, name: `Name of ${id}`, description: 'What it does.', steps, ...more });
}

export function fileWith(text: string, place: FilePlace = {}): WorkflowFile {
  return fileOf({ kind: 'text', text }, place);
}

export function fileOf(
  content: WorkflowFile['content'],
  { kind = 'project', ref = 'a.json', rank }: FilePlace,
): WorkflowFile {
  const isInRoutines = ref.includes('routines/');
  return { kind, ref, rank: rank ?? RANKS[kind], path: `/somewhere/${ref}`, isInRoutines, content };
}

/** The compiler with a record of its inputs. */
export function listeningTools(
  aliases: CatalogTools['aliases'] = new Map(),
): CatalogTools & { readonly inputs: CompileInput[] } {
  const inputs: CompileInput[] = [];
  return {
    sha256,
    aliases,
    inputs,
    compiler: async () => (around) =>
      fileCompiler(around, (input) => {
        inputs.push(input);
        return compileWorkflow(input, { sha256, compilePattern });
      }),
  };
}

/** The catalog of exactly these files. */
export function catalogOf(
  files: readonly WorkflowFile[],
  { bindings, tools = listeningTools() }: { readonly bindings?: SourceFile; readonly tools?: CatalogTools } = {},
): Promise<Catalog> {
  const listing = { files, ...(bindings === undefined ? {} : { bindings }) };
  return workflowCatalog({ files: async () => listing }, tools).list('/repo');
}
