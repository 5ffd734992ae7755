import type { JsonObject } from '../../core/json/json-value.ts';
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
