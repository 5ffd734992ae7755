import type { Line } from '../../output/line.ts';
import type { ClientResult, InitData } from '../../shapes/setup/init-shape.ts';

const WORDS: { readonly [result in ClientResult['result']]: string } = {
  registered: 'registered',
  replaced: 'replaced the entry that was there',
  unchanged: 'registered already',
  planned: 'would be registered',
  kept: 'kept as it is: an entry "workrail" starts something else',
  broken: 'left alone',
  unreadable: 'cannot be read',
  failed: 'failed',
  restored: 'as it was before, to the byte',
  removed: 'removed, there was none before',
  taken_out: 'our entry taken out; the rest stays as it is now',
  nothing: 'nothing left to undo',
};

const BAD: readonly string[] = ['broken', 'unreadable', 'failed', 'kept'];

/** A client a line, and below it what would change. */
export function initLines({ clients, action, isDryRun }: InitData, short: (path: string) => string): readonly Line[] {
  if (clients.length === 0) return [[action === 'undo' ? 'There is nothing to undo.' : 'No client was chosen.']];
  const width = Math.max(...clients.map(({ name }) => name.length));
  const head: readonly Line[] = isDryRun
    ? [[{ text: 'Nothing is changed; this is what would be done.', style: 'strong' }], []]
    : [];
  return [...head, ...clients.flatMap((one) => clientLines(one, width, short))];
}

function clientLines(one: ClientResult, width: number, short: (path: string) => string): readonly Line[] {
  const isBad = BAD.includes(one.result);
  const place = one.line === undefined ? short(one.file) : `${short(one.file)}, line ${one.line}`;
  const problem = one.problem === undefined ? '' : ` (${one.problem})`;
  const via = one.via === 'command' ? ' by its own command' : '';
  return [
    [
      { text: isBad ? '✗' : '✓', style: isBad ? 'bad' : 'good' },
      ` ${one.name.padEnd(width)}  ${WORDS[one.result]}${via}${problem}  `,
      { text: place, style: 'dim' },
    ],
    ...(one.backup === undefined
      ? []
      : [[{ text: `  ${' '.repeat(width)}  backup: ${short(one.backup)}`, style: 'dim' }] as const]),
    ...(one.command === undefined ? [] : [[`  runs: ${one.command}`] as const]),
    ...(one.diff ?? []).map(diffLine),
    ...(one.diff === undefined ? [] : [[] as const]),
  ];
}

/** A tab would be shown as an escape. */
function diffLine(written: string): Line {
  const line = written.replaceAll('\t', '  ').replaceAll('\r', '');
  if (line.startsWith('+')) return ['  ', { text: line, style: 'good' }];
  return ['  ', line.startsWith('-') ? { text: line, style: 'bad' } : { text: line, style: 'dim' }];
}
