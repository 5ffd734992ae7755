/** What is hidden in reports. If two kinds overlap, the first one of this list is shown. */
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

/** Replaces what was hidden. Its quotes have no meaning in Markdown or HTML. */
export function hiddenMarker(kind: SecretKind): string {
  return `«hidden: ${kind}»`;
}

/** Finds the markers in a text. */
export const MARKER_PATTERN = new RegExp(`«hidden: (?:${SECRET_KINDS.join('|')})»`, 'g');

/** Escapes and markup that Markdown removes may separate the letters. */
const between = '[^\\p{L}\\p{N}»]{0,8}';
const FORGED = new RegExp(`«(?=${between}${[...'hidden'].join(between)})`, 'giu');

/** A text in which nothing looks like one of our markers: only redaction may say that something was hidden. */
export function withoutForgedMarkers(text: string): string {
  return text.includes('«') ? text.replaceAll(FORGED, '[U+00AB]') : text;
}
