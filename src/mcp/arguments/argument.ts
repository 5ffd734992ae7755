import { unreachable } from '../../core/assert.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { nearest } from '../../core/text/spelling.ts';
import type { TokenSlot } from '../../core/token/token.ts';

type Shape =
  | { readonly kind: 'text' }
  /** Named after the slot that it stands in, which says what kinds of token belong there. */
  | { readonly kind: 'token'; readonly slot: TokenSlot }
  | {
      readonly kind: 'choice';
      readonly values: readonly string[];
      /** Words that agents use for a value, in plain spelling. */
      readonly synonyms?: { readonly [word: string]: string };
    }
  | { readonly kind: 'texts' }
  | { readonly kind: 'object' }
  | {
      readonly kind: 'objects';
      /** The argument beside it that a plain text among them is taken for. */
      readonly textsInto?: string;
    }
  | { readonly kind: 'group'; readonly fields: Arguments };

/** One argument of a tool: what a client is told of it, and what else may be meant by something that is not quite it. */
export type Argument = Shape & {
  readonly about: string;
  readonly isRequired?: true;
  /** Another name that is as good. */
  readonly alsoNamed?: readonly string[];
  /** Names that are wrong, but tell what was meant. */
  readonly mistakenFor?: readonly string[];
};

/** Arguments by name; the order is the one in which they are shown. */
export type Arguments = { readonly [name: string]: Argument };

type Value<One extends Argument> = One extends { readonly kind: 'text' | 'token' }
  ? string
  : One extends { readonly kind: 'choice'; readonly values: readonly (infer Choice)[] }
    ? Choice
    : One extends { readonly kind: 'texts' }
      ? readonly string[]
      : One extends { readonly kind: 'object' }
        ? JsonObject
        : One extends { readonly kind: 'objects' }
          ? readonly JsonObject[]
          : One extends { readonly kind: 'group'; readonly fields: infer Fields extends Arguments }
            ? ArgumentValues<Fields>
            : never;

type RequiredNames<All extends Arguments> = {
  [name in keyof All]: All[name] extends { readonly isRequired: true } ? name : never;
}[keyof All];

/** What a tool gets for its arguments. */
export type ArgumentValues<All extends Arguments> = {
  readonly [name in RequiredNames<All>]: Value<All[name]>;
} & {
  readonly [name in Exclude<keyof All, RequiredNames<All>>]?: Value<All[name]>;
};

/**
 * What clients are told of a tool's arguments. It does not forbid others: a client that checks would keep from us what
 * we can mend, and the agent would never hear what it meant.
 */
export function inputSchema(all: Arguments): JsonObject & { readonly type: 'object' } {
  const required = Object.entries(all).filter(([, { isRequired }]) => isRequired);
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(all).map(([name, one]) => [name, argumentSchema(one)])),
    ...(required.length === 0 ? {} : { required: required.map(([name]) => name) }),
  };
}

function argumentSchema(one: Argument): JsonObject {
  const { about: description } = one;
  switch (one.kind) {
    case 'text':
    case 'token':
      return { type: 'string', description };
    case 'choice':
      return { type: 'string', enum: one.values, description };
    case 'texts':
      return { type: 'array', items: { type: 'string' }, description };
    case 'object':
      return { type: 'object', description };
    case 'objects':
      return { type: 'array', items: { type: 'object' }, description };
    case 'group':
      return { ...inputSchema(one.fields), description };
    default:
      return unreachable(one);
  }
}

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

/** What an argument can be told to be, and what was found in its place. */
export type ShapeName =
  | 'text'
  | 'token'
  | 'list of texts'
  | 'object'
  | 'list of objects'
  | 'number'
  | 'boolean'
  | 'list';

/** What is wrong with an argument, as facts. `name` is what the agent wrote, with the group it stands in. */
export type ArgumentProblem =
  /** `meant` is the argument it was taken for; without one it is left out. */
  | { readonly kind: 'unknown'; readonly name: string; readonly meant?: string }
  | { readonly kind: 'missing'; readonly name: string }
  /** Two spellings of one argument that say different things. */
  | { readonly kind: 'twice'; readonly name: string; readonly meant: string }
  | {
      readonly kind: 'wrong_shape';
      readonly name: string;
      readonly wanted: ShapeName;
      readonly found: ShapeName;
      readonly isMended: boolean;
    }
  /** What belongs into a field of it was sent in its own place. */
  | { readonly kind: 'misplaced'; readonly name: string; readonly meant: string }
  /** It begins like JSON and is none. */
  | { readonly kind: 'broken_json'; readonly name: string }
  | {
      readonly kind: 'no_choice';
      readonly name: string;
      readonly found: string;
      readonly values: readonly string[];
      readonly meant?: string;
    }
  | { readonly kind: 'words_around_token'; readonly name: string };

/** Whether what was meant is known, so that the corrected call can be given. */
export function isMended(problem: ArgumentProblem): boolean {
  switch (problem.kind) {
    case 'unknown':
    case 'misplaced':
    case 'words_around_token':
      return true;
    case 'wrong_shape':
      return problem.isMended;
    case 'no_choice':
      return problem.meant !== undefined;
    default:
      return false;
  }
}
