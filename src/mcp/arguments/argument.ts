import { type ByKind, byKind } from '../../core/assert.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { nearest } from '../../core/text/spelling.ts';
import type { TokenSlot } from '../../core/token/token.ts';

/** What one call may have, far above every real one. Reading stops at the first excess. */
export const CALL_LIMITS = { namesMax: 64, itemsMax: 1_000, wordBytesMax: 4_096 } as const;

type Shape =
  /** Prose has a limit of its own where it is stored. */
  | { readonly kind: 'text'; readonly isProse?: true }
  /** Named after its slot, which determines the kinds of token it accepts. */
  | { readonly kind: 'token'; readonly slot: TokenSlot }
  | {
      readonly kind: 'choice';
      readonly values: readonly string[];
      /** Words that agents use for a value. */
      readonly synonyms?: { readonly [word: string]: string };
    }
  | { readonly kind: 'flag' }
  | { readonly kind: 'texts' }
  | { readonly kind: 'object' }
  | {
      readonly kind: 'objects';
      /** The argument that plain text in this list belongs to. */
      readonly textsInto?: string;
    }
  | { readonly kind: 'group'; readonly fields: Arguments };

/** One argument of a tool: what clients see of it, and other spellings that mean it. */
export type Argument = Shape & {
  readonly about: string;
  readonly isRequired?: true;
  /** Other accepted names. */
  readonly alsoNamed?: readonly string[];
  /** Wrong names whose meaning is clear. */
  readonly mistakenFor?: readonly string[];
  /** Published only where the tool is on that gives its value; accepted everywhere. */
  readonly only?: 'start_session';
};

/** Arguments by name, in the order they are shown. */
export type Arguments = { readonly [name: string]: Argument };

type Value<One extends Argument> = One extends { readonly kind: 'text' | 'token' }
  ? string
  : One extends { readonly kind: 'choice'; readonly values: readonly (infer Choice)[] }
    ? Choice
    : One extends { readonly kind: 'flag' }
      ? boolean
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

/** The values that a tool receives. */
export type ArgumentValues<All extends Arguments> = {
  readonly [name in RequiredNames<All>]: Value<All[name]>;
} & {
  readonly [name in Exclude<keyof All, RequiredNames<All>>]?: Value<All[name]>;
};

/**
 * The JSON Schema of a tool's arguments. It allows unknown arguments: otherwise a client that validates would not let the
 * call through, and the agent would never get the corrected call.
 */
export function inputSchema(given: Arguments, isSessionStartOn = false): JsonObject & { readonly type: 'object' } {
  const all = shownArguments(given, isSessionStartOn);
  const required = Object.entries(all).filter(([, { isRequired }]) => isRequired);
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(all).map(([name, one]) => [name, argumentSchema(one)])),
    ...(required.length === 0 ? {} : { required: required.map(([name]) => name) }),
  };
}

/** The arguments that an agent needs to know of. */
export function shownArguments(all: Arguments, isSessionStartOn: boolean): Arguments {
  return Object.fromEntries(Object.entries(all).filter(([, { only }]) => only === undefined || isSessionStartOn));
}

function argumentSchema(one: Argument): JsonObject {
  return { ...byKind(SCHEMAS, one), description: one.about };
}

const SCHEMAS: ByKind<Argument, JsonObject> = {
  text: () => ({ type: 'string' }),
  token: () => ({ type: 'string' }),
  choice: ({ values }) => ({ type: 'string', enum: values }),
  flag: () => ({ type: 'boolean' }),
  texts: () => ({ type: 'array', items: { type: 'string' } }),
  object: () => ({ type: 'object' }),
  objects: () => ({ type: 'array', items: { type: 'object' } }),
  group: ({ fields }) => inputSchema(fields),
};

/** An argument, or a field of one. */
export type ArgumentPlace = { readonly name: string; readonly field?: string };

/** What a written name means, and whether this spelling is accepted. */
export type NamedArgument = { readonly place: ArgumentPlace; readonly isEquivalent: boolean };

/** Finds what a name means. A field is also accepted outside its group, because nothing else can be meant. */
export function argumentNamed(written: string, all: Arguments): NamedArgument | undefined {
  const exact = places(all).find(
    ({ place, one }) => place.field === undefined && namesOf(place, one).includes(written),
  );
  if (exact !== undefined) return { place: exact.place, isEquivalent: true };
  const lifted = places(all).find(({ place, one }) => namesOf(place, one).includes(written));
  if (lifted !== undefined) return { place: lifted.place, isEquivalent: true };
  const meant = places(all).find(({ place, one }) =>
    isPlainly(written, [...namesOf(place, one), ...(one.mistakenFor ?? [])]),
  );
  if (meant !== undefined) return { place: meant.place, isEquivalent: false };
  const near = nearest(
    written,
    places(all).map(({ place }) => lastName(place)),
  );
  const found = places(all).find(({ place }) => lastName(place) === near);
  return found === undefined ? undefined : { place: found.place, isEquivalent: false };
}

/** The name with the name of its group. */
export function argumentPath({ name, field }: ArgumentPlace): string {
  return field === undefined ? name : `${name}.${field}`;
}

/** Letters and digits only, so that `ack_token` and `AckToken` are equal. */
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

/** The kinds of value that an argument can need or get. */
export type ShapeName =
  | 'text'
  | 'token'
  | 'list of texts'
  | 'object'
  | 'list of objects'
  | 'number'
  | 'boolean'
  | 'list';

/** What is wrong with an argument. `name` is what the agent wrote, with its group. */
export type ArgumentProblem =
  /** `meant` is the argument it was taken for, if any. */
  | { readonly kind: 'unknown'; readonly name: string; readonly meant?: string }
  | { readonly kind: 'missing'; readonly name: string; readonly isEmpty?: boolean }
  /** Two spellings of one argument with different values. */
  | { readonly kind: 'twice'; readonly name: string; readonly meant: string }
  | {
      readonly kind: 'wrong_shape';
      readonly name: string;
      readonly wanted: ShapeName;
      readonly found: ShapeName;
      readonly isCorrected: boolean;
    }
  /** The value of one of its fields was sent as the argument itself. */
  | { readonly kind: 'misplaced'; readonly name: string; readonly meant: string }
  /** It looks like JSON but is not valid, or has more values than are read from a text. */
  | { readonly kind: 'broken_json'; readonly name: string; readonly isTooLarge?: true }
  /** A number in JSON text that parsing would round. */
  | { readonly kind: 'inexact_number'; readonly name: string; readonly number: string }
  /** `name` is empty for the arguments themselves. */
  | { readonly kind: 'too_many'; readonly name: string; readonly found: number; readonly max: number }
  | { readonly kind: 'too_long'; readonly name: string; readonly bytes: number; readonly bytesMax: number }
  | {
      readonly kind: 'no_choice';
      readonly name: string;
      readonly found: string;
      readonly values: readonly string[];
      readonly meant?: string;
    }
  | { readonly kind: 'words_around_token'; readonly name: string };

/** Whether the intention is known, so that the corrected call can be given. */
export function isCorrected(problem: ArgumentProblem): boolean {
  switch (problem.kind) {
    case 'unknown':
    case 'misplaced':
    case 'words_around_token':
      return true;
    case 'wrong_shape':
      return problem.isCorrected;
    case 'no_choice':
      return problem.meant !== undefined;
    default:
      return false;
  }
}
