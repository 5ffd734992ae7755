import { refs } from '../builtins/refs.ts';
import type { SourceNode } from '../source/source-node.ts';
import * as f from './field.ts';
import { ANY_COUNT, ID_BYTES_MAX, PROMPT_BYTES_MAX } from './limits.ts';
import { readValue } from './read-fields.ts';
import { mapTexts } from './text-walk.ts';

/** A text with bundled texts put in between. */
export type BlockText = readonly (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'ref'; readonly refId: string; readonly at: string }
)[];
type Part = BlockText[number];

const words = f.text(PROMPT_BYTES_MAX, { use: 'prompt' });

export const textPart = f.closed('textPart', {
  kind: f.needed(f.choice(['text']), 'A text of your own.'),
  text: f.needed(words, 'The text.'),
});

export const refPart = f.closed('refPart', {
  kind: f.needed(f.choice(['ref']), 'A bundled text.'),
  refId: f.needed(
    f.text(ID_BYTES_MAX, { use: 'label', known: refs.ids }),
    'One of the bundled [texts](builtins.md). Not allowed in `outputRequired`.',
  ),
});

const textPartKind: f.Kind<Part> = f.built(f.unplaced(textPart), (part) => part);
const refPartKind: f.Kind<Part> = f.built(refPart, ({ refId, kind }, node) => ({
  kind,
  refId,
  at: `${node.pointer}/refId`,
}));
const bareText: f.Kind<Part> = f.built(words, (value): Part => ({ kind: 'text', text: value }), mapPart);

const part: f.Kind<Part> = f.either(
  'a text or an object',
  bareText,
  f.variants<Part>('kind', { text: textPartKind, ref: refPartKind }),
);
const ownPart: f.Kind<Part> = f.either(
  'a text or an object',
  bareText,
  f.variants<Part>('kind', { text: textPartKind }),
);

function mapPart(one: Part, change: f.TextChange): Part {
  if (one.kind === 'ref') return { ...one, at: change.place(one.at, 'at') };
  return { kind: 'text', text: mapTexts(words, one.text, change) };
}

function mapBlock(block: BlockText, change: f.TextChange): BlockText {
  return block.map((one) => mapPart(one, change));
}

/** A text, a part, or several parts. */
function blockOf(of: f.Kind<Part>): f.Kind<BlockText> {
  const one = f.built(of, (read): BlockText => [read], mapBlock);
  const several = f.built(f.list(of, { max: ANY_COUNT }), (read): BlockText => read, mapBlock);
  return f.either('a text, an object or a list of them', one, several);
}

const block: f.Kind<BlockText> = f.built(blockOf(part), (read) => read, mapBlock);
/** The names of what to hand in are the author's own; bundled texts may stand elsewhere only. */
const ownBlock = blockOf(ownPart);

/** Blocks in turn; a single text counts as a list of one, and so does a bare list of parts. */
const blocks: f.Kind<readonly BlockText[]> = f.built(
  f.either(
    'a text or a list of texts',
    f.built(words, (value): readonly BlockText[] => [[{ kind: 'text', text: value }]]),
    f.built(f.list(block, { max: ANY_COUNT }), (read, node) => (isParts(node) ? [read.flat()] : read)),
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

const outputRequired: f.Kind<Required> = f.special({
  read: (reader, node, what) =>
    readValue(reader, f.record(block), { node: node, what: what })?.map(({ name, value }) => ({ name, text: value })),
  map: (fields, change) =>
    fields.map((one) => ({ name: change.text(one.name, 'prompt', change.at ?? ''), text: mapBlock(one.text, change) })),
  fits: () => [f.record(ownBlock)],
});

export const promptBlocks = f.object(
  'promptBlocks',
  {
    goal: f.optional(block, 'What to achieve.'),
    constraints: f.optionalList(blocks, 'What must not be broken.'),
    procedure: f.optionalList(blocks, 'How to proceed.'),
    outputRequired: f.optionalList(outputRequired, 'What to send, each under its name.'),
    verify: f.optionalList(blocks, 'How to check that it is done.'),
  },
  [
    {
      filled: ['goal', 'constraints', 'procedure', 'outputRequired', 'verify'],
      problem: { code: 'prompt_missing', message: 'The prompt is empty. Write at least a "goal".' },
    },
  ],
);

export type PromptBlocks = Omit<f.Value<typeof promptBlocks>, 'at'>;
