import { nearest } from '../../core/text/spelling.ts';
import type { Argument, Arguments } from './argument.ts';

/** Where something belongs: an argument, or a field of one. */
export type ArgumentPlace = { readonly name: string; readonly field?: string };

/** What a written name stands for, and whether it may be written so. */
export type NamedArgument = { readonly place: ArgumentPlace; readonly isAsGood: boolean };

/** Finds what a name stands for. A field is as good outside of its group: nothing else can be meant by it. */
export function argumentNamed(written: string, all: Arguments): NamedArgument | undefined {
  const exact = places(all).find(
    ({ place, one }) => place.field === undefined && namesOf(place, one).includes(written),
  );
  if (exact !== undefined) return { place: exact.place, isAsGood: true };
  const lifted = places(all).find(({ place, one }) => namesOf(place, one).includes(written));
  if (lifted !== undefined) return { place: lifted.place, isAsGood: true };
  const meant = places(all).find(({ place, one }) =>
    isPlainly(written, [...namesOf(place, one), ...(one.mistakenFor ?? [])]),
  );
  if (meant !== undefined) return { place: meant.place, isAsGood: false };
  const near = nearest(
    written,
    places(all).map(({ place }) => lastName(place)),
  );
  const found = places(all).find(({ place }) => lastName(place) === near);
  return found === undefined ? undefined : { place: found.place, isAsGood: false };
}

/** As it is written behind the name of its group. */
export function argumentPath({ name, field }: ArgumentPlace): string {
  return field === undefined ? name : `${name}.${field}`;
}

/** Letters and digits alone, so that `ack_token` and `AckToken` are one. */
export function plainly(word: string): string {
  return word.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

function isPlainly(written: string, names: readonly string[]): boolean {
  return names.some((name) => plainly(name) === plainly(written));
}

function places(all: Arguments): readonly { readonly place: ArgumentPlace; readonly one: Argument }[] {
  return Object.entries(all).flatMap(([name, one]) => [
    { place: { name }, one },
    ...(one.kind === 'group'
      ? Object.entries(one.fields).map(([field, inner]) => ({ place: { name, field }, one: inner }))
      : []),
  ]);
}

function namesOf(place: ArgumentPlace, { alsoNamed = [] }: Argument): readonly string[] {
  return [lastName(place), ...alsoNamed];
}

function lastName({ name, field }: ArgumentPlace): string {
  return field ?? name;
}
