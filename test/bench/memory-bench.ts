import { posix } from 'node:path';
import { err, ok } from 'neverthrow';
import { memoryStore } from '../../src/adapters/memory-store/memory-store.ts';
import { re2Patterns } from '../../src/adapters/patterns.ts';
import { answerIds, nodeHasher, randomIds } from '../../src/adapters/system.ts';
import type { AuthorServices } from '../../src/app/author/author-services.ts';
import { fileCompiler } from '../../src/app/catalog/compile-files.ts';
import type { WorkflowFile } from '../../src/app/ports/workflow-sources.ts';
import { PRESETS } from '../../src/core/log/autonomy.ts';
import { REHEARSED_GATES } from '../../src/core/settings/settings-in-effect.ts';
import { compileWorkflow } from '../../src/core/workflow/compile-workflow.ts';

const WORKSPACE = '/repo';
const FOLDERS = [
  { kind: 'bundled', dir: '/bundle', rank: 0 },
  { kind: 'user', dir: '/home/.workrail/workflows', rank: 1 },
  { kind: 'project', dir: '/repo/.workrail/workflows', rank: 2 },
] as const;
const { sha256 } = nodeHasher;
const compilePattern = re2Patterns();

export type MemoryBench = { readonly author: AuthorServices; readonly disk: Map<string, string> };

/** Author services with files in memory: workflows in the usual folders are found as on a disk. */
export function memoryBench(content: { readonly [path: string]: string | object }): MemoryBench {
  const disk = new Map(Object.entries(content).map(([path, what]) => [absolute(path), textOf(what)]));
  return {
    disk,
    author: {
      workspace: WORKSPACE,
      folders: { project: '/repo/.workrail/workflows', user: '/home/.workrail/workflows' },
      files: filesOn(disk),
      source: { files: async () => ({ files: listed(disk) }) },
      tools: {
        sha256,
        aliases: new Map(),
        compiler: async () => (around) =>
          fileCompiler(around, (input) => compileWorkflow(input, { sha256, compilePattern })),
      },
      compilePattern,
      yieldNow: async () => undefined,
      services: async (catalog) => ({
        ...memoryStore(sha256),
        catalog,
        patterns: { load: async () => compilePattern },
        workspace: { observe: async () => [], tree: async () => undefined },
        references: {
          find: async (references) =>
            references.map(({ title, source: path, purpose, isAuthoritative }) => {
              const isResolved = !path.includes('missing');
              return { title, path, purpose, isAuthoritative, isResolved, isOutside: false };
            }),
        },
        defaults: async () => ok(PRESETS.guided),
        gateSettings: async () => REHEARSED_GATES,
        hasher: nodeHasher,
        clock: { nowMs: () => 1_700_000_000_000 },
        ids: randomIds({ nowMs: () => 1_700_000_000_000 }),
        answerIds,
        tokenForm: 'compact',
      }),
    },
  };
}

function absolute(path: string): string {
  return posix.resolve(WORKSPACE, path);
}

function textOf(what: string | object): string {
  return typeof what === 'string' ? what : `${JSON.stringify(what, null, 2)}\n`;
}

function listed(disk: ReadonlyMap<string, string>): readonly WorkflowFile[] {
  return FOLDERS.flatMap(({ kind, dir, rank }) =>
    [...disk]
      .filter(([path]) => path.startsWith(`${dir}/`) && !path.endsWith('.test.json'))
      .map(([path, text]) => {
        const ref = path.slice(dir.length + 1);
        const isInRoutines = ref.startsWith('routines/');
        return { kind, rank, path, ref, isInRoutines, content: { kind: 'text', text } } as const;
      }),
  );
}

function filesOn(disk: Map<string, string>): AuthorServices['files'] {
  const under = (folder: string) => [...disk.keys()].filter((path) => path.startsWith(`${absolute(folder)}/`));
  return {
    resolve: absolute,
    kindOf: (path) => (disk.has(absolute(path)) ? 'file' : under(path).length > 0 ? 'folder' : 'nothing'),
    list: (folder) => under(folder).sort(),
    content: (path) => {
      const text = disk.get(absolute(path));
      return text === undefined ? { kind: 'unread', reason: { code: 'not_a_file' } } : { kind: 'text', text };
    },
    read: (path) => {
      const text = disk.get(absolute(path));
      return text === undefined ? err({ code: 'file_absent', path }) : ok(text);
    },
    write: (path, text, options) => {
      if (options?.isNew === true && disk.has(absolute(path))) return err({ code: 'file_exists', path });
      disk.set(absolute(path), text);
      return ok(undefined);
    },
    remove: (path) => {
      disk.delete(absolute(path));
      return ok(undefined);
    },
    changed: async () => undefined,
  };
}
