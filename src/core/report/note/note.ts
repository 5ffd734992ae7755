/** A block of a parsed note: a subset of Markdown without HTML, the same in every report format. */
export type NoteBlock =
  | { readonly kind: 'heading'; readonly level: number; readonly content: readonly NoteInline[] }
  | { readonly kind: 'paragraph'; readonly content: readonly NoteInline[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly NoteBlock[] }
  | { readonly kind: 'list'; readonly start: number | undefined; readonly items: readonly (readonly NoteBlock[])[] }
  | { readonly kind: 'table'; readonly rows: readonly (readonly (readonly NoteInline[])[])[] }
  | { readonly kind: 'rule' };

export type NoteInline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'emphasis' | 'deleted'; readonly content: readonly NoteInline[] }
  | NoteLink
  | { readonly kind: 'break' };

export type NoteLink = { readonly kind: 'link'; readonly href: string; readonly content: readonly NoteInline[] };

/** Whether the text of a link is its address. */
export function isBareLink({ href, content }: NoteLink): boolean {
  const [only, ...more] = content;
  return more.length === 0 && only?.kind === 'text' && only.text === href;
}
