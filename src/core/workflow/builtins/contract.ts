import * as z from 'zod';
import { inKeyOrder, type JsonObject } from '../../json/json-value.ts';
import type { contractRefSchema } from '../../log/blockers.ts';
import { utf8Length } from '../../text/utf8.ts';
import type { PinnedContract } from '../compiled/compiled-workflow.ts';
import { CONTRACT_DATA } from './contract-data.ts';
import {
  ANY_CASE,
  BYTES_MAX,
  describeShape,
  fieldNames,
  inStableOrder,
  isRequired,
  partOf,
  type Shape,
  shapeOfSchema,
} from './shape.ts';

export type ContractRef = z.infer<typeof contractRefSchema>;

/** How an artifact is shown to people. */
export const RENDERER_HINTS = ['table', 'verdict', 'list', 'handoff', 'plain'] as const;
export type RendererHint = (typeof RENDERER_HINTS)[number];

/** All there is to know about a kind of artifact that a step can ask for. */
export type Contract = {
  readonly contractRef: ContractRef;
  /** The `kind` by which an artifact says that it answers this contract. */
  readonly artifactKind: string;
  /** What the artifact is for, for people who choose a contract. */
  readonly purpose: string;
  /** What the agent should do, before the list of fields. */
  readonly lead: string;
  readonly schema: z.ZodType;
  /** The schema as data: what a compiled workflow embeds and what an artifact is checked against. */
  readonly shape: Shape;
  readonly example: JsonObject;
  /** What the agent reads about the artifact before it works. */
  readonly guidance: string;
  readonly rendererHint: RendererHint;
};

type Declaration = {
  readonly name: string;
  readonly purpose: string;
  /** What the agent should do, before the list of fields. */
  readonly lead: string;
  readonly example: JsonObject;
  readonly rendererHint: RendererHint;
} & ({ readonly fields: () => z.ZodRawShape } | { readonly schema: () => z.ZodType });

/**
 * Makes the one object of a contract. Reference and kind follow from its name, so they always belong together. The data
 * form is generated from the schema, so a process that only reads it never builds the schema.
 */
export function defineContract(declaration: Declaration): Contract {
  const { name, purpose, lead, rendererHint } = declaration;
  const artifactKind = kindOf(name);
  const schema = once(() =>
    'schema' in declaration ? declaration.schema() : artifactSchema(name, declaration.fields()),
  );
  const data = once((): ContractData => {
    const generated = CONTRACT_DATA[name];
    return generated === undefined ? contractData({ artifactKind, lead, schema: schema() }) : JSON.parse(generated);
  });
  return {
    contractRef: `wr.contracts.${name}` as ContractRef,
    artifactKind,
    purpose,
    lead,
    get schema() {
      return schema();
    },
    example: { kind: artifactKind, ...declaration.example },
    rendererHint,
    get shape() {
      return data().shape;
    },
    get guidance() {
      return data().guidance;
    },
  };
}

type ContractData = { readonly shape: Shape; readonly guidance: string };

/** What follows from the schema of a contract. */
export function contractData({
  artifactKind,
  lead,
  schema,
}: Pick<Contract, 'artifactKind' | 'lead' | 'schema'>): ContractData {
  const declared = shapeOfSchema(schema);
  return { shape: inStableOrder(declared), guidance: contractGuidance({ artifactKind, lead, shape: declared }) };
}

/** An artifact with these fields and no others: a misspelled field must not look like a missing one. */
function artifactSchema(name: string, fields: z.ZodRawShape): z.ZodObject {
  return z.strictObject({ kind: z.literal(kindOf(name)), ...fields });
}

/** An artifact that may hold anything. */
export function openArtifactSchema(name: string): z.ZodObject {
  return z.looseObject({ kind: z.literal(kindOf(name)) });
}

/** The contract as a compiled workflow embeds it. */
export function pinnedContract({ contractRef, artifactKind, shape, example, guidance }: Contract): PinnedContract {
  // A pinned workflow is read back with its keys in order; an example is to look the same before.
  return { contractRef, artifactKind, schema: shape, example: inKeyOrder(example), guidance };
}

function kindOf(name: string): string {
  return `wr.${name}`;
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** What an agent reads about a contract before it works. It is made from the schema, so the two cannot differ. */
function contractGuidance(contract: {
  readonly artifactKind: string;
  readonly lead: string;
  readonly shape: Shape;
}): string {
  const { artifactKind, lead, shape } = contract;
  const lines = fieldNames(shape)
    .filter((name) => name !== 'kind')
    .map((name) => fieldLine(shape, name));
  return [`An artifact of kind ${artifactKind}: ${lead}`, ...lines].join('\n');
}

function fieldLine(shape: Shape, name: string): string {
  const field = partOf(partOf(shape, 'properties') ?? {}, name) ?? {};
  const presence = isRequired(shape, name) ? '' : ' (optional)';
  const meaning = typeof field['description'] === 'string' ? `; ${field['description']}` : '';
  return `- ${name}${presence}: ${describeShape(field)}${meaning}`;
}

/** A text that says something. */
export const nonEmptyText = z.string().min(1);

export const confidence = z.enum(['high', 'medium', 'low']);

/** Steps of one scale everywhere, worst first. */
export const SEVERITIES = ['critical', 'major', 'minor', 'nit'] as const;

/** A list of short texts. It may be empty: an agent that has nothing to say must not make something up. */
export function textList(countMax: number): z.ZodArray<z.ZodString> {
  return z.array(nonEmptyText).max(countMax);
}

/** Texts, or objects of the agent's own choice where a sentence is not enough. */
export const remarks = z.array(z.union([nonEmptyText, z.looseObject({})]));

/** A text that is stored with an event and must fit there. */
export function shortText(bytesMax: number): z.ZodString {
  return nonEmptyText.refine((value) => utf8Length(value) <= bytesMax).meta({ [BYTES_MAX]: bytesMax });
}

/** Words that agents write in any case. The schema knows the declared form; the check brings a word into it. */
export function anyCase<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words).meta({ [ANY_CASE]: true });
}

/** Where something is. */
export const location = z.strictObject({ file: nonEmptyText, line: z.int().min(1) });
