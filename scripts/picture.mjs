// Draws docs/demo.svg from what the demo really prints in a terminal. Usage: node scripts/picture.mjs (after a build)
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const COLUMNS = 104;
const LINE = 20;
const MARGIN = 20;
const CHAR = 8.43;
/** What begins a change of colour in a terminal. */
const ESCAPE = String.fromCharCode(27);
const COLOR = new RegExp(`${ESCAPE}\\[(\\d+)m`);
const STYLES = {
  1: 'font-weight="bold"',
  2: 'opacity="0.7"',
  31: 'fill="#ff7b72"',
  32: 'fill="#7ee787"',
  33: 'fill="#f2cc60"',
};

const command = `stty cols ${COLUMNS}; node dist/workrail.js demo --speed max`;
const printed = execFileSync('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
  encoding: 'utf8',
});
const lines = printed.replaceAll('\r', '').trim().split('\n').flatMap(wrapped);
const height = lines.length * LINE + 2 * MARGIN;
const width = Math.ceil(COLUMNS * CHAR) + 2 * MARGIN;

const rows = lines.map(
  (line, i) => `<text x="${MARGIN}" y="${MARGIN + 14 + i * LINE}" xml:space="preserve">${spans(line)}</text>`,
);
const svg = [
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="A run of workrail demo in a terminal">`,
  `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
  `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">`,
  ...rows,
  '</g>',
  '</svg>',
];
writeFileSync('docs/demo.svg', `${svg.join('\n')}\n`);
console.log(`docs/demo.svg, ${lines.length} lines`);

/** A line with its colours as text of a picture. */
function spans(line) {
  const parts = line.split(COLOR);
  let style = '';
  return parts
    .map((part, i) => {
      if (i % 2 === 1) {
        style = STYLES[part] ?? '';
        return '';
      }
      const text = part.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      return style === '' || text === '' ? text : `<tspan ${style}>${text}</tspan>`;
    })
    .join('');
}

/** A long line goes on below, as in a terminal, but between words. */
function wrapped(line) {
  const plain = line.replaceAll(new RegExp(COLOR, 'g'), '');
  if (plain.length <= COLUMNS) return [line];
  const at = line.lastIndexOf(' ', COLUMNS);
  return [line.slice(0, at), ...wrapped(`           ${line.slice(at + 1)}`)];
}
