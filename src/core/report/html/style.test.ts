import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { STYLE, STYLE_HASH } from './style.ts';

const CONTRAST_MIN = 4.5;
/** Of the edge of something that can be used. */
const EDGE_CONTRAST_MIN = 3;

it('the hash in the content security policy is the hash of the style', () => {
  expect(STYLE_HASH).toBe(`sha256-${createHash('sha256').update(STYLE).digest('base64')}`);
});

it('the style loads nothing', () => {
  enforces('report_page_self_contained');
  expect(STYLE).not.toMatch(/url\(|@import|@font-face|image\(|src:|expression\(/i);
});

it.each(['light', 'dark', 'print'] as const)('every text color of the style has enough contrast in %s', (scheme) => {
  enforces('report_page_self_contained');
  const colors = palette(scheme);
  const pairs = colorPairs();
  expect(pairs.length).toBeGreaterThan(20);
  const low = pairs
    .map(([text, behind]) => ({ text, behind, ratio: contrast(colors[text], colors[behind]) }))
    .filter(({ ratio }) => !(ratio >= CONTRAST_MIN));
  expect(low).toEqual([]);
});

it.each(['light', 'dark'] as const)('the console has enough contrast on each of its backgrounds in %s', (scheme) => {
  const css = readFileSync('console/style/console.css', 'utf8');
  const pairs = [...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)];
  const colors = new Map(pairs.map(([, name = '', light, dark]) => [name, scheme === 'light' ? light : dark]));
  const behind = ['bg', 'subtle', 'inset'];
  const decoration = ['border'];
  const low = [...colors.keys()]
    .filter((name) => ![...behind, ...decoration].includes(name))
    .flatMap((name) => behind.map((under) => ({ name, under, ratio: contrast(colors.get(name), colors.get(under)) })))
    .filter(({ name, ratio }) => !(ratio >= (name === 'border-strong' ? EDGE_CONTRAST_MIN : CONTRAST_MIN)));
  expect(colors.size).toBeGreaterThan(12);
  expect(low).toEqual([]);
});

/** The colors in light come first in the style; the other schemes replace them. */
function palette(scheme: 'light' | 'dark' | 'print'): { readonly [name: string]: string } {
  const places = { light: 0, dark: STYLE.indexOf('(prefers-color-scheme:dark)'), print: STYLE.indexOf('@media print') };
  const own = STYLE.slice(STYLE.indexOf(':root{', places[scheme]));
  return Object.fromEntries(
    [...own.slice(0, own.indexOf('}')).matchAll(/--(\w+):(#[0-9a-f]+)/g)].map((one) => one.slice(1)),
  );
}

/** Which color stands on which: what one rule says together, and any text on the page and on a card. */
function colorPairs(): readonly (readonly [text: string, behind: string])[] {
  const rules = [...STYLE.matchAll(/\{([^{}]*)\}/g)].map(([, body = '']) => ({
    text: /(?<![-\w])color:var\(--(\w+)\)/.exec(body)?.[1],
    behind: /(?<![-\w])background:var\(--(\w+)\)/.exec(body)?.[1],
  }));
  return rules.flatMap(({ text, behind }) => {
    if (text === undefined) return behind === undefined ? [] : [['text', behind] as const];
    return (behind === undefined ? ['bg', 'card'] : [behind]).map((one) => [text, one] as const);
  });
}

function contrast(one = '', other = ''): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const digits = color.length === 4 ? color.replaceAll(/[0-9a-f]/g, '$&$&') : color;
  const [red, green, blue] = [1, 3, 5].map((at) => linear(Number.parseInt(digits.slice(at, at + 2), 16) / 255));
  return 0.2126 * (red ?? Number.NaN) + 0.7152 * (green ?? Number.NaN) + 0.0722 * (blue ?? Number.NaN);
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}
