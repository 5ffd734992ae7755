import { visibleText } from '../../text/visible-text.ts';
import { hiddenMarker, MARKER_PATTERN, SECRET_KINDS } from '../redact/secret-kinds.ts';

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return visibleText(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** A text for an element, with markers of hidden secrets highlighted. */
export function textHtml(text: string): string {
  return escapeHtml(text).replaceAll(MARKER_PATTERN, (marker) => {
    const kind = SECRET_KINDS.find((one) => hiddenMarker(one) === marker) ?? '';
    return `<mark>hidden: ${kind}</mark>`;
  });
}
