/** Escapes and marks that Markdown takes away may stand between the letters. */
const between = '[^\\p{L}\\p{N}»]{0,8}';
const FORGED = new RegExp(`«(?=${between}${[...'hidden'].join(between)})`, 'giu');

/** A text of somebody else that cannot pass for one of our markers: only we say that something was hidden. */
export function withoutForgedMarkers(text: string): string {
  return text.includes('«') ? text.replaceAll(FORGED, '[U+00AB]') : text;
}
