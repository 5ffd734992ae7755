/** What is hidden in reports. Where two overlap, the one that stands first here gives the name. */
export const SECRET_KINDS = [
  'private key',
  'WorkRail token',
  'access key',
  'JSON web token',
  'password',
  'e-mail address',
  'workspace path',
  'home folder',
  'random-looking text',
] as const;
export type SecretKind = (typeof SECRET_KINDS)[number];

/** Stands in the place of what was hidden. Its quotes mean nothing in Markdown or HTML. */
export function hiddenMarker(kind: SecretKind): string {
  return `«hidden: ${kind}»`;
}

/** Finds markers in a text, to show them as such. */
export const MARKER_PATTERN = new RegExp(`«hidden: (?:${SECRET_KINDS.join('|')})»`, 'g');

/** Escapes and marks that Markdown takes away may stand between the letters. */
const between = '[^\\p{L}\\p{N}»]{0,8}';
const FORGED = new RegExp(`«(?=${between}${[...'hidden'].join(between)})`, 'giu');

/** A text of somebody else that cannot pass for one of our markers: only we say that something was hidden. */
export function withoutForgedMarkers(text: string): string {
  return text.includes('«') ? text.replaceAll(FORGED, '[U+00AB]') : text;
}
