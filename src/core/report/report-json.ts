import { readableJson } from '../json/readable-json.ts';
import type { Report } from './report.ts';

/** A report as JSON. What changes the direction of text is written as an escape, so that no screen obeys it. */
export function reportJson(report: Report): string {
  // Line breaks are our own layout: those of texts are escapes already.
  return `${readableJson(report).replaceAll(/[^\P{Cc}\n]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, escaped)}\n`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
