import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { re2Patterns } from '../src/adapters/patterns.ts';
import { libraryBytes, nodeCompiledFiles } from '../src/adapters/sources/compiled-files.ts';
import { nodeFolderAccess } from '../src/adapters/sources/read-folder.ts';
import { workflowFiles } from '../src/adapters/sources/workflow-files.ts';
import { nodeHasher } from '../src/adapters/system.ts';
import { fileCompiler } from '../src/app/catalog/compile-files.ts';
import { workflowCatalog } from '../src/app/catalog/workflow-catalog.ts';
import type { CompiledFiles } from '../src/app/ports/workflow-sources.ts';
import { compileWorkflow } from '../src/core/workflow/compile-workflow.ts';

type Made = NonNullable<ReturnType<Parameters<CompiledFiles['keep']>[0]>>;

/** The bundled workflows of a folder, compiled: what a server would keep of them. */
export async function compiledLibrary(folder: string): Promise<readonly Made[]> {
  const made: Made[] = [];
  const { sha256 } = nodeHasher;
  const compilePattern = re2Patterns();
  const source = workflowFiles({ bundled: resolve(folder), user: resolve(folder, 'nowhere') }, nodeFolderAccess);
  const catalog = workflowCatalog(source, {
    sha256,
    aliases: new Map(),
    compiler: async () => (around) =>
      fileCompiler(around, (input) => compileWorkflow(input, { sha256, compilePattern })),
    compiledFiles: {
      ...nodeCompiledFiles({ compiler: '' }),
      keep: (make) => {
        const one = make();
        if (one !== undefined) made.push(one);
      },
    },
  });
  const { invalid } = await catalog.list();
  if (invalid.length > 0) throw new Error(`does not compile: ${invalid.map(({ file }) => file.ref).join(', ')}`);
  return made;
}

/** Writes the library of a folder for a compiler. */
export async function writeLibrary(folder: string, file: string, compiler: string): Promise<void> {
  const made = await compiledLibrary(folder);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, libraryBytes(made, compiler));
}
