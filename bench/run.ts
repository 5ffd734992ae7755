import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { benchAdvance, benchSigning } from './advance.ts';
import { benchAppend } from './append.ts';
import { benchColdLoad } from './cold-load.ts';
import { benchCommandLine, benchVerify } from './command-line.ts';
import { benchCompile } from './compile.ts';
import { benchConsole, benchEditor } from './console.ts';
import { benchFirstCall } from './first-call.ts';
import { benchFold } from './fold.ts';
import { benchFreshChat } from './fresh-chat.ts';
import { benchImport } from './import.ts';
import { benchLookAgain } from './look-again.ts';
import { measurementsPage } from './measurements.ts';
import { benchRandomCalls } from './random-calls.ts';
import { benchResume } from './resume.ts';
import type { Row } from './row.ts';
import { benchOpenSession, benchSessionIndex } from './session-index.ts';
import { benchSizes } from './sizes.ts';
import { benchStartAndList } from './start-and-list.ts';
import { benchStartUp } from './start-up.ts';
import { benchTeam } from './team.ts';

const BENCHES: { readonly [name: string]: () => Promise<readonly Row[]> } = {
  append: benchAppend,
  advance: benchAdvance,
  signing: benchSigning,
  'look-again': benchLookAgain,
  'start-and-list': benchStartAndList,
  'fresh-chat': benchFreshChat,
  'first-call': benchFirstCall,
  'cold-load': benchColdLoad,
  'session-index': benchSessionIndex,
  'open-session': benchOpenSession,
  resume: benchResume,
  'random-calls': benchRandomCalls,
  fold: benchFold,
  compile: benchCompile,
  'start-up': benchStartUp,
  'command-line': benchCommandLine,
  import: benchImport,
  verify: benchVerify,
  console: benchConsole,
  editor: benchEditor,
  sizes: benchSizes,
  team: benchTeam,
};

// Usage: npm run bench [-- [--write] NAME...]. With --write, docs/measurements.md is written from what was measured.
const PAGE = 'docs/measurements.md';
const isWritten = process.argv.includes('--write');
const asked = process.argv.slice(2).filter((word) => word !== '--write');
const before = loadavg();
const sections: { readonly name: string; readonly rows: readonly Row[] }[] = [];
for (const [name, bench] of Object.entries(BENCHES)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.error(`measuring ${name}`);
  const measured = await bench();
  // At once: a later section that fails must not take the figures of an hour with it.
  console.table(measured);
  sections.push({ name, rows: measured });
}
const rows = sections.flatMap((section) => section.rows);
// A busy machine makes everything slower, processor time too, so its figures say little.
console.log(
  `load of the machine over the last 1, 5 and 15 minutes: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')}`,
);
if (isWritten) {
  const page = measurementsPage({
    sections,
    machine: {
      processor: cpus()[0]?.model.trim() ?? 'unknown processor',
      cores: cpus().length,
      memoryBytes: totalmem(),
      system: `${type()} ${release().split('-')[0]}`,
      node: process.versions.node,
    },
    at: new Date().toISOString(),
    commit: execFileSync('git', ['rev-parse', '--short=10', 'HEAD'], { encoding: 'utf8' }).trim(),
    load: { before, after: loadavg() },
  });
  writeFileSync(PAGE, page);
  console.log(`Wrote ${PAGE}.`);
}
if (rows.some(({ verdict }) => verdict === 'FAIL')) process.exitCode = 1;
