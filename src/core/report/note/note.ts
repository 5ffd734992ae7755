/** A note as it was understood: a subset of Markdown that is the same in every report, and holds no HTML. */
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
  | { readonly kind: 'link'; readonly href: string; readonly content: readonly NoteInline[] }
  | { readonly kind: 'break' };
