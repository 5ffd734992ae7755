import { cell, withFrontMatter } from '../scripts/generate/markdown.ts';
import type { Row } from './row.ts';

/** What was measured, on what. */
export type Measured = {
  readonly sections: readonly { readonly name: string; readonly rows: readonly Row[] }[];
  readonly machine: {
    readonly processor: string;
    readonly cores: number;
    readonly memoryBytes: number;
    readonly system: string;
    readonly node: string;
  };
  /** ISO 8601, in UTC. */
  readonly at: string;
  readonly commit: string;
  /** Over the last 1, 5 and 15 minutes, before and after. */
  readonly load: { readonly before: readonly number[]; readonly after: readonly number[] };
};

const TITLES: { readonly [name: string]: string } = {
  append: 'Writing one append to disk',
  advance: 'One step of a run',
  signing: 'Signing what is written',
  'look-again': 'Showing a step again',
  'start-and-list': 'Starting a run and listing workflows',
  'fresh-chat': 'What a fresh chat waits for',
  'first-call': 'The first call of a server',
  'cold-load': 'Opening a session that no process has in memory',
  'session-index': 'Many sessions',
  'open-session': 'Opening a session in the console',
  resume: 'Finding a run again',
  'random-calls': 'Calls with wrong arguments',
  fold: 'Reading a long log',
  compile: 'Compiling workflows',
  'start-up': 'Starting the program',
  'command-line': 'Commands',
  import: 'Moving a session',
  console: 'The console',
  editor: "The console's editor",
  sizes: 'Sizes of replies',
};

/** The page of measurements. Only the figures, the date, the commit and the load differ between two runs on one machine. */
export function measurementsPage({ sections, machine, at, commit, load }: Measured): string {
  const loads = (figures: readonly number[]) => figures.map((figure) => figure.toFixed(1)).join(', ');
  const lines = [
    '# Measurements',
    '',
    'Written by `npm run bench -- --write`; run it to get the figures of your machine. Do not edit this page.',
    '',
    `- Date: ${at.slice(0, 'yyyy-mm-dd'.length)} · commit ${commit}`,
    `- Machine: ${machine.processor}, ${machine.cores} cores, ${Math.round(machine.memoryBytes / 2 ** 30)} GiB of memory`,
    `- System: ${machine.system}, Node ${machine.node}`,
    `- Load over 1, 5 and 15 minutes: ${loads(load.before)} before and ${loads(load.after)} after. Above ${machine.cores}, other work made every figure worse.`,
    '',
    'A figure with `×` is a multiple of a floor that is measured in the same run: the least that Node and the disk need for such work. A budget is the limit that the project set itself; **over** marks a figure that misses it.',
    ...sections.flatMap(({ name, rows }) => [
      '',
      `## ${TITLES[name] ?? name}`,
      '',
      '| What | Measured | Budget |',
      '|---|---|---|',
      ...rows.map(({ metric, figure, budget, verdict }) => {
        const over = verdict === 'FAIL' ? ' **over**' : '';
        return `| ${cellText(metric)} | ${cellText(figure)} | ${cellText(budget.replace('<= ', 'at most '))}${over} |`;
      }),
    ]),
  ];
  return withFrontMatter(`${lines.join('\n')}\n`);
}

function cellText(text: string): string {
  return cell(text).replaceAll('<', '&lt;');
}
