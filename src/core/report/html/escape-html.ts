import { visibleText } from '../../text/visible-text.ts';
import { hiddenMarker, MARKER_PATTERN, SECRET_KINDS } from '../redact/secret-kinds.ts';

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as it stands in an element or in an attribute in quotes. */
export function escapeHtml(text: string): string {
  return visibleText(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** A text in an element, with what was hidden shown as such. */
export function textHtml(text: string): string {
  return escapeHtml(text).replaceAll(MARKER_PATTERN, (marker) => {
    const kind = SECRET_KINDS.find((one) => hiddenMarker(one) === marker) ?? '';
    return `<mark>hidden: ${kind}</mark>`;
  });
}
