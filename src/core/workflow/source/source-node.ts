import type { SourceSpan } from '../diagnostics/diagnostic.ts';

/** A JSON value with the place it was written at. */
export type SourceNode = { readonly span: SourceSpan; readonly pointer: string } & (
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, SourceField> }
  | { readonly kind: 'array'; readonly items: readonly SourceNode[] }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'null' }
);

export type SourceField = {
  readonly name: string;
  /** Where the name itself stands, quotes included. */
  readonly nameSpan: SourceSpan;
  /** The whole field, from the name to the end of the value. */
  readonly span: SourceSpan;
  readonly value: SourceNode;
};

export type SourceObject = Extract<SourceNode, { kind: 'object' }>;
export type SourceArray = Extract<SourceNode, { kind: 'array' }>;

/** The JSON pointer of something inside a value. */
export function pointerTo(pointer: string, key: string | number): string {
  return typeof key === 'number'
    ? `${pointer}/${key}`
    : `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
