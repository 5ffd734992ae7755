import { loadavg } from 'node:os';
import { benchAdvance } from './advance.ts';
import { benchAppend } from './append.ts';
import { benchColdLoad } from './cold-load.ts';
import { benchCommandLine } from './command-line.ts';
import { benchCompile } from './compile.ts';
import { benchConsole, benchEditor } from './console.ts';
import { benchFirstCall } from './first-call.ts';
import { benchFold } from './fold.ts';
import { benchFreshChat } from './fresh-chat.ts';
import { benchLookAgain } from './look-again.ts';
import { benchRandomCalls } from './random-calls.ts';
import { benchResume } from './resume.ts';
import type { Row } from './row.ts';
import { benchOpenSession, benchSessionIndex } from './session-index.ts';
import { benchSizes } from './sizes.ts';
import { benchStartAndList } from './start-and-list.ts';
import { benchStartUp } from './start-up.ts';

const BENCHES: { readonly [name: string]: () => Promise<readonly Row[]> } = {
  append: benchAppend,
  advance: benchAdvance,
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
  console: benchConsole,
  editor: benchEditor,
  sizes: benchSizes,
};

// Usage: npm run bench [-- NAME...]
const asked = process.argv.slice(2);
const rows: Row[] = [];
for (const [name, bench] of Object.entries(BENCHES)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.error(`measuring ${name}`);
  rows.push(...(await bench()));
}
console.table(rows);
// A busy machine makes everything slower, processor time too, so its figures say little.
console.log(
  `load of the machine over the last 1, 5 and 15 minutes: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')}`,
);
if (rows.some(({ verdict }) => verdict === 'FAIL')) process.exitCode = 1;
