import type { SourceSpan } from '../diagnostics/diagnostic.ts';
import type { SourceText } from './source-texts.ts';

/** Where phrases of plain words stand in a file: letters and spaces look the same in a text and in its JSON. */
export function spansOf(
  { span, value }: SourceText,
  pattern: RegExp,
  text: string,
): readonly { readonly phrase: string; readonly span: SourceSpan }[] {
  let from = span.offset;
  return [...value.matchAll(pattern)].map(([phrase]) => {
    const offset = text.indexOf(phrase, from);
    from = offset + phrase.length;
    return { phrase, span: { offset, length: phrase.length } };
  });
}
