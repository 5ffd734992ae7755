import type { JsonValue } from '../../../core/json/json-value.ts';
import type { FileTrouble } from '../../ports/machine.ts';

/** Reads and edits one format. Everything except our entry stays the same to the byte. */
export type EntryEditor = {
  /** Our entry; `undefined` if there is none. */
  readonly find: (text: string, place: EntryPlace) => { readonly entry: unknown } | { readonly trouble: FileTrouble };
  /** The text with our entry added or replaced. */
  readonly put: (text: string, place: EntryPlace, entry: JsonValue) => Edited;
  /** The text without our entry. */
  readonly remove: (text: string, place: EntryPlace) => Edited;
};

export type EntryPlace = { readonly key: string; readonly name: string };

export type Edited = { readonly text: string } | { readonly trouble: FileTrouble };

/** The line of an offset. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
