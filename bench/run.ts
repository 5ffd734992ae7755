import { benchAppend } from './append.ts';
import { benchColdLoad } from './cold-load.ts';
import { benchCompile } from './compile.ts';
import { benchFold } from './fold.ts';
import type { Row } from './row.ts';
import { benchSessionIndex } from './session-index.ts';
import { benchStartUp } from './start-up.ts';

const BENCHES: { readonly [name: string]: () => Promise<readonly Row[]> } = {
  append: benchAppend,
  'cold-load': benchColdLoad,
  'session-index': benchSessionIndex,
  fold: benchFold,
  compile: benchCompile,
  'start-up': benchStartUp,
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
if (rows.some(({ verdict }) => verdict === 'FAIL')) process.exitCode = 1;
