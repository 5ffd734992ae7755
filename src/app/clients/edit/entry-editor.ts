import type { JsonValue } from '../../../core/json/json-value.ts';
import type { FileTrouble } from '../../ports/machine.ts';

/** How one kind of file is read and edited. Everything but our entry stays as it is, to the byte. */
export type EntryEditor = {
  /** Our entry; `undefined` when there is none. */
  readonly find: (text: string, place: EntryPlace) => { readonly entry: unknown } | { readonly trouble: FileTrouble };
  /** The text with our entry put in, or put in the place of the one there is. */
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
