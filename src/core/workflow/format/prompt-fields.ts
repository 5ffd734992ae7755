import { refs } from '../builtins/registry.ts';
import type { SourceNode } from '../source/source-node.ts';
import {
  built,
  choice,
  defaulted,
  either,
  type Kind,
  list,
  needed,
  object,
  optional,
  record,
  special,
  type TextChange,
  text,
  unplaced,
  type Value,
  variants,
} from './field.ts';
import { ANY_COUNT, ID_BYTES_MAX, PROMPT_BYTES_MAX } from './limits.ts';
import { readValue } from './read-fields.ts';
import { mapTexts } from './text-walk.ts';

/** A text with bundled texts put in between. */
export type BlockText = readonly (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'ref'; readonly refId: string; readonly at: string }
)[];
type Part = BlockText[number];

const words = text(PROMPT_BYTES_MAX, { use: 'prompt' });

export const textPart = object(
  'textPart',
  { kind: needed(choice(['text']), 'A text of your own.'), text: needed(words, 'The text.') },
  { isClosed: true },
);

export const refPart = object(
  'refPart',
  {
    kind: needed(choice(['ref']), 'A bundled text.'),
    refId: needed(
      text(ID_BYTES_MAX, { use: 'label', known: refs.ids }),
      'One of the bundled [texts](builtins.md). Not allowed in `outputRequired`.',
    ),
  },
  { isClosed: true },
);

const textPartKind: Kind<Part> = built(unplaced(textPart), (part) => part);
const refPartKind: Kind<Part> = built(refPart, ({ refId, kind }, node) => ({
  kind,
  refId,
  at: `${node.pointer}/refId`,
}));
const bareText: Kind<Part> = built(words, (value): Part => ({ kind: 'text', text: value }), mapPart);

const part: Kind<Part> = either(
  'a text or an object',
  bareText,
  variants<Part>('kind', { text: textPartKind, ref: refPartKind }),
);
const ownPart: Kind<Part> = either('a text or an object', bareText, variants<Part>('kind', { text: textPartKind }));

function mapPart(one: Part, change: TextChange): Part {
  if (one.kind === 'ref') return { ...one, at: change.place(one.at, 'at') };
  return { kind: 'text', text: mapTexts(words, one.text, change) };
}

function mapBlock(block: BlockText, change: TextChange): BlockText {
  return block.map((one) => mapPart(one, change));
}

/** A text, a part, or several parts. */
function blockOf(of: Kind<Part>): Kind<BlockText> {
  const one = built(of, (read): BlockText => [read], mapBlock);
  const several = built(list(of, { max: ANY_COUNT }), (read): BlockText => read, mapBlock);
  return either('a text, an object or a list of them', one, several);
}

const block: Kind<BlockText> = built(blockOf(part), (read) => read, mapBlock);
/** The names of what to hand in are the author's own; bundled texts may stand elsewhere only. */
const ownBlock = blockOf(ownPart);

/** Blocks in turn; a single text counts as a list of one, and so does a bare list of parts. */
const blocks: Kind<readonly BlockText[]> = built(
  either(
    'a text or a list of texts',
    built(words, (value): readonly BlockText[] => [[{ kind: 'text', text: value }]]),
    built(list(block, { max: ANY_COUNT }), (read, node) => (isParts(node) ? [read.flat()] : read)),
  ),
  (read) => read.filter((one) => one.length > 0),
  (read, change) => read.map((one) => mapBlock(one, change)),
);

/** Parts written as a bare list: `[{kind:"text",…},{kind:"ref",…}]`, not a list of such lists. */
function isParts(node: SourceNode): boolean {
  if (node.kind !== 'array' || node.items.length === 0) return false;
  return node.items.every((item) => item.kind === 'object' && item.fields.has('kind'));
}

type Required = readonly { readonly name: string; readonly text: BlockText }[];

const outputRequired: Kind<Required> = special({
  read: (reader, node, what) =>
    readValue(reader, record(block), { node: node, what: what })?.map(({ name, value }) => ({ name, text: value })),
  map: (fields, change) =>
    fields.map((one) => ({ name: change.text(one.name, 'prompt', change.at ?? ''), text: mapBlock(one.text, change) })),
  fits: () => [record(ownBlock)],
});

export const promptBlocks = object(
  'promptBlocks',
  {
    goal: optional(block, 'What to achieve.'),
    constraints: defaulted(blocks, 'What must not be broken.', { otherwise: [] }),
    procedure: defaulted(blocks, 'How to proceed.', { otherwise: [] }),
    outputRequired: defaulted(outputRequired, 'What to send, each under its name.', { otherwise: [] }),
    verify: defaulted(blocks, 'How to check that it is done.', { otherwise: [] }),
  },
  {
    rules: [
      {
        filled: ['goal', 'constraints', 'procedure', 'outputRequired', 'verify'],
        problem: { code: 'prompt_missing', message: 'The prompt is empty. Write at least a "goal".' },
      },
    ],
  },
);

export type PromptBlocks = Omit<Value<typeof promptBlocks>, 'at'>;
