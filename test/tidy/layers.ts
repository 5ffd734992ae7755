import { builtinModules } from 'node:module';
import { posix } from 'node:path';
import { inProgram, inSource, isTest, type TidyRule } from './rule.ts';
import { lineAt, type SourceFile } from './source-file.ts';

const ADAPTING = ['adapters', 'mcp', 'http', 'cli'] as const;
type Layer = 'core' | 'ports' | 'app' | 'compose' | 'console' | (typeof ADAPTING)[number];

/** What each layer may import besides itself. Siblings meet only in `compose.ts`. */
const MAY_IMPORT: { readonly [layer in Layer]: readonly Layer[] } = {
  core: [],
  ports: ['core'],
  app: ['core', 'ports'],
  adapters: ['core', 'ports'],
  mcp: ['core', 'ports', 'app'],
  http: ['core', 'ports', 'app'],
  cli: ['core', 'ports', 'app'],
  compose: ['core', 'ports', 'app', ...ADAPTING],
  console: ['core'],
};

const NODE_MODULES = new Set(builtinModules);

/** Imports follow `core <- app/ports <- app <- {mcp, http, cli} <- compose`, `app/ports <- adapters <- compose` and `core <- console`. */
export const layerDirection: TidyRule = {
  name: 'layer-direction',
  find: (files) =>
    files
      .filter(({ path }) => inProgram(path))
      .flatMap((file) => {
        const from = layerOf(file.path);
        if (from === undefined) return [finding(file, 1, 'belongs to no layer')];
        return importsOf(file).flatMap(({ specifier, line }) => {
          if (!specifier.startsWith('.')) return [];
          const target = posix.normalize(posix.join(posix.dirname(file.path), specifier));
          const to = layerOf(target);
          if (to !== undefined && (to === from || MAY_IMPORT[from].includes(to))) return [];
          return [finding(file, line, `${from} may not import ${to ?? target}`)];
        });
      }),
  planted: [
    [['src/core/planted.ts', "import { start } from '../app/start.ts';"]],
    [['src/core/planted.ts', "export type Start = import('../app/start.ts').Start;"]],
    [['src/app/planted.ts', "import type { Disk } from '../adapters/disk.ts';"]],
    [['src/app/deep/planted.ts', "const disk = await import('../../adapters/disk.ts');"]],
    [['src/adapters/planted.ts', "import { advance } from '../app/run/advance.ts';"]],
    [['src/adapters/deep/planted.ts', "import type { Services } from '../../app/services.ts';"]],
    [['src/app/ports/planted.ts', "import type { Client } from '../clients/client.ts';"]],
    [['src/mcp/planted.ts', "import '../adapters/disk.ts';"]],
    [['src/cli/planted.ts', "import { serve } from '../mcp/server.ts';"]],
    [['src/http/planted.ts', "import { serve } from '../mcp/server.ts';"]],
    [['src/adapters/planted.ts', "import { main } from '../cli/main.ts';"]],
    [['src/cli/planted.ts', "import { main } from '../compose.ts';"]],
    [['src/app/planted.ts', "import { enforces } from '../../test/enforces.ts';"]],
    [['console/planted.ts', "import { start } from '../src/app/start.ts';"]],
    [['src/planted.ts', '']],
  ],
};

/** Core and app run anywhere: they import nothing of Node. */
export const noNodeBelowAdapters: TidyRule = {
  name: 'no-node-below-adapters',
  find: (files) =>
    files
      .filter(({ path }) => inSource(path) && !isTest(path) && ['core', 'ports', 'app'].includes(layerOf(path) ?? ''))
      .flatMap((file) =>
        importsOf(file)
          .filter(({ specifier }) => specifier.startsWith('node:') || NODE_MODULES.has(specifier))
          .map(({ specifier, line }) => finding(file, line, `imports Node's ${specifier}`)),
      ),
  planted: [
    [['src/core/planted.ts', "import { readFileSync } from 'node:fs';"]],
    [['src/core/planted.ts', "import fs from 'fs/promises';"]],
    [['src/app/planted.ts', "const fs = await import('node:fs');"]],
  ],
};

function layerOf(path: string): Layer | undefined {
  if (path === 'src/compose.ts' || path.startsWith('src/compose/')) return 'compose';
  if (path.startsWith('console/')) return 'console';
  if (path.startsWith('src/app/ports/')) return 'ports';
  const [root, folder, ...rest] = path.split('/');
  if (root !== 'src' || rest.length === 0 || folder === undefined) return undefined;
  return folder === 'core' || folder === 'app' || ADAPTING.some((layer) => layer === folder)
    ? (folder as Layer)
    : undefined;
}

function importsOf({ codeWithStrings }: SourceFile): readonly { readonly specifier: string; readonly line: number }[] {
  const pattern = /\b(?:from|import)\s*\(?\s*(['"`])([^'"`\n]+)\1/g;
  return [...codeWithStrings.matchAll(pattern)].map((match) => ({
    specifier: match[2] ?? '',
    line: lineAt(codeWithStrings, match.index),
  }));
}

function finding({ path }: SourceFile, line: number, message: string) {
  return { path, line, message };
}
