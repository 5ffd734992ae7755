// Draws docs/demo.svg from what the demo really prints in a terminal. Usage: node scripts/picture.mjs (after a build)
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** Narrow, so that the picture can be read at half the width of a page. */
const COLUMNS = 60;
const LINE = 21;
const MARGIN = 20;
const CHAR = 8.43;
/** How long a scene is shown: time to read it. */
const SCENE_SECONDS = 5;
/** Few fonts have the glyph that a terminal shows for a fork; every font for terminals has this one. */
const GLYPHS = { '⑂': '┬' };
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
const text = printed.replaceAll('\r', '').replaceAll(/[⑂]/g, (glyph) => GLYPHS[glyph]);
// The demo prints an empty line before each scene; the last lines say what to type next, which is not part of the run.
const scenes = text
  .trim()
  .split('\n\n')
  .slice(0, -1)
  .map((scene) => scene.split('\n').flatMap(wrapped));
const rows = Math.max(...scenes.map((lines) => lines.length));
const height = rows * LINE + 2 * MARGIN;
const width = Math.ceil(COLUMNS * CHAR) + 2 * MARGIN;
const seconds = scenes.length * SCENE_SECONDS;
const share = (100 / scenes.length).toFixed(3);

const style = [
  `g.scene { opacity: 0; animation: scene ${seconds}s step-end infinite }`,
  `@keyframes scene { 0% { opacity: 1 } ${share}% { opacity: 0 } }`,
  ...scenes.map((_, i) => `#s${i} { animation-delay: ${i * SCENE_SECONDS}s }`),
  // Without motion, the end of the run is shown: it is the whole of it.
  `@media (prefers-reduced-motion: reduce) { g.scene { animation: none } #s${scenes.length - 1} { opacity: 1 } }`,
];
const svg = [
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="A run of workrail demo in a terminal, scene by scene">`,
  `<style>${style.join(' ')}</style>`,
  `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
  `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#e6edf3">`,
  ...scenes.map((lines, i) => `<g class="scene" id="s${i}">\n${lines.map(row).join('\n')}\n</g>`),
  '</g>',
  '</svg>',
];
writeFileSync('docs/demo.svg', `${svg.join('\n')}\n`);
console.log(`docs/demo.svg, ${scenes.length} scenes of up to ${rows} lines`);

function row(line, i) {
  return `<text x="${MARGIN}" y="${MARGIN + 14 + i * LINE}" xml:space="preserve">${spans(line)}</text>`;
}

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

/** A long line goes on below, as in a terminal, but between words and as far in as it begins. */
function wrapped(line) {
  const plain = line.replaceAll(new RegExp(COLOR, 'g'), '');
  if (plain.length <= COLUMNS) return [line];
  // Where the line breaks, counted without the changes of colour.
  const limit = plain.lastIndexOf(' ', COLUMNS);
  let at = 0;
  for (let shown = 0; shown < limit; at++) {
    const color = line.slice(at).match(COLOR);
    if (color?.index === 0) at += color[0].length - 1;
    else shown += 1;
  }
  const open = [...line.slice(0, at).matchAll(new RegExp(COLOR, 'g'))].at(-1)?.[0] ?? '';
  const indent = /^ */.exec(plain)?.[0] ?? '';
  return [line.slice(0, at), ...wrapped(`${indent}${open}${line.slice(at).trimStart()}`)];
}
