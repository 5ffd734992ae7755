import { posix } from 'node:path';
import { importCycles, importGraph } from './import-graph.ts';
import { eachFile, type FindInFile, type Finding, inProgram, inSource, isTest, type TidyRule } from './rule.ts';
import type { SourceFile } from './source-file.ts';

const PROGRAM_LINES_MAX = 400;
const TEST_LINES_MAX = 600;
const ENTRIES_MAX = 25;
const SHRED_LINES = 25;
/** Small on purpose: it is all that `--version` loads besides the entry point. */
const MAY_BE_SMALL = new Set(['src/cli/main.ts']);

/** How files and folders are arranged: neither too large to read nor too small to look for. */
export const ARRANGEMENT_RULES: readonly TidyRule[] = [
  {
    name: 'file-length',
    find: eachFile(inSource, tooLong),
    planted: [
      [['src/core/planted.ts', 'x;\n'.repeat(PROGRAM_LINES_MAX + 1)]],
      [['src/core/planted.test.ts', 'x;\n'.repeat(TEST_LINES_MAX + 1)]],
    ],
  },
  {
    name: 'folder-size',
    find: crowdedFolders,
    planted: [Array.from({ length: ENTRIES_MAX + 1 }, (_, i) => [`src/app/planted/step-${i}.ts`, ''] as const)],
  },
  {
    name: 'no-shreds',
    find: shreds,
    planted: [
      [
        ['src/core/planted.ts', "import { small } from './small.ts';"],
        ['src/core/small.ts', 'export const small = 1;'],
      ],
    ],
  },
  {
    name: 'no-import-cycles',
    find: (files) =>
      importCycles(importGraph(files.filter(({ path }) => inProgram(path)))).map((cycle) => ({
        path: cycle[0] ?? '',
        line: 1,
        message: `these files import each other: ${cycle.join(', ')}`,
      })),
    planted: [
      [
        ['src/core/one.ts', "import { two } from './two.ts';"],
        ['src/core/two.ts', "import type { One } from './one.ts';"],
      ],
      [
        ['src/app/one.ts', "import { two } from './two.ts';"],
        ['src/app/two.ts', "import {\n  three,\n} from './three.ts';"],
        ['src/app/three.ts', "import { one } from './one.ts';"],
      ],
    ],
  },
];

function tooLong({ path, text }: SourceFile): ReturnType<FindInFile> {
  const max = isTest(path) ? TEST_LINES_MAX : PROGRAM_LINES_MAX;
  const lines = lineCount(text);
  return lines > max ? [{ path, line: max, message: `${lines} lines, at most ${max}` }] : [];
}

function lineCount(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

/** A unit test belongs to the file beside it, so it does not count as an entry of its own. */
function crowdedFolders(files: readonly SourceFile[]): readonly Finding[] {
  const entries = new Map<string, Set<string>>();
  for (const { path } of files.filter((file) => inSource(file.path) && !isTest(file.path))) {
    for (let entry = path; entry !== 'src'; entry = posix.dirname(entry)) {
      const folder = posix.dirname(entry);
      entries.set(folder, (entries.get(folder) ?? new Set()).add(entry));
    }
  }
  return [...entries]
    .filter(([, { size }]) => size > ENTRIES_MAX)
    .map(([folder, { size }]) => ({ path: folder, line: 1, message: `${size} entries, at most ${ENTRIES_MAX}` }));
}

/** Small files that serve one other file. A file that is loaded on demand stands apart for that reason. */
function shreds(files: readonly SourceFile[]): readonly Finding[] {
  const program = files.filter(({ path }) => inProgram(path));
  const importers = new Map<string, string[]>();
  for (const [from, targets] of importGraph(program)) {
    for (const to of targets) importers.set(to, [...(importers.get(to) ?? []), from]);
  }
  const isLoadedOnDemand = (path: string) =>
    program.some(({ codeWithStrings }) => codeWithStrings.includes(`/${posix.basename(path)}')`));
  return program
    .filter(({ path, text }) => lineCount(text) < SHRED_LINES && !path.endsWith('.d.ts'))
    .filter(({ path }) => !MAY_BE_SMALL.has(path) && !isLoadedOnDemand(path))
    .flatMap(({ path, text }) => {
      const [only, ...others] = importers.get(path) ?? [];
      if (only === undefined || others.length > 0) return [];
      return [{ path, line: 1, message: `${lineCount(text)} lines for ${only} alone: move them there` }];
    });
}
