import { unreachable } from '../../assert.ts';
import { blocksSource } from '../markdown/note-markdown.ts';
import { isBareLink, type NoteBlock, type NoteInline, type NoteLink } from '../note/note.ts';
import { parseNote } from '../note/parse-note.ts';
import { type Cell, findSecrets, type KnownFolders, type Secret, secretCells } from './find-secrets.ts';
import { hiddenMarker, type SecretKind } from './secret-kinds.ts';
import { SEAM } from './strip-markup.ts';

/**
 * A note with its secrets hidden. Secrets are searched for in the text that a reader sees, without escapes and markup;
 * then the note is written again from its blocks. A note without secrets is returned unchanged.
 */
export function redactNote(markdown: string, folders: KnownFolders, onHidden: (kind: SecretKind) => void): string {
  const blocks = parseNote(markdown);
  const { body, extras, known } = readNote(blocks);
  const secrets = findSecrets(`${body}${extras}`, folders, known);
  // Link targets that are not safe are in no block; writing the note again drops them.
  const dropped = secrets.length > 0 ? [] : findSecrets(markdown, folders);
  if (secrets.length + dropped.length === 0) return markdown;
  for (const { kind } of dropped) onHidden(kind);
  const rewritten = rewriteNote(blocks, {
    inBody: hider(secrets, 0, onHidden),
    inExtras: hider(secrets, body.length, onHidden),
  });
  return blocksSource(rewritten);
}

/** Between blocks: a value may be in the block after its name. */
const BLOCK_END = '\n\n';
/** Between cells and between addresses, which are unrelated to their neighbours. */
const CELL_END = '\n\n\n';

type Cells = readonly (readonly (readonly NoteInline[])[])[];

type NoteText = {
  /** What a reader sees, in order, with seams between pieces. */
  readonly body: string;
  /** Addresses and languages of code blocks, which are not part of the visible text. */
  readonly extras: string;
  /** What is secret because of its place in a table. */
  readonly known: readonly Secret[];
};

/** The text of a note. `rewriteNote` visits the note in the same order. */
function readNote(blocks: readonly NoteBlock[]): NoteText {
  const body: string[] = [];
  const extras: string[] = [];
  const known: Secret[] = [];
  let length = 0;
  const add = (text: string) => {
    body.push(text);
    length += text.length;
    return text;
  };
  const walk: Walk = {
    text: add,
    gap: add,
    extra: (text) => {
      extras.push(text, CELL_END);
      return text;
    },
    link: (link) => {
      if (!isBareLink(link)) extras.push(link.href, CELL_END);
      return [{ ...link, content: walkInlines(link.content, walk) }];
    },
    table: (rows) => {
      const cells = rows.map((row) =>
        row.map((cell): Cell => {
          const from = length;
          const start = body.length;
          walkCell(cell, walk);
          return { from, to: length - CELL_END.length, text: body.slice(start).join('').replaceAll(SEAM, '').trim() };
        }),
      );
      for (const secret of secretCells(cells)) known.push(secret);
      return rows;
    },
  };
  walkBlocks(blocks, walk);
  return { body: body.join(''), extras: extras.join(''), known };
}

/** The note with its secrets hidden. A link whose target or text contains a secret becomes text. */
function rewriteNote(
  blocks: readonly NoteBlock[],
  { inBody, inExtras }: { readonly inBody: Hider; readonly inExtras: Hider },
): readonly NoteBlock[] {
  let changes = 0;
  const text = (piece: string) => {
    const redacted = inBody.take(piece);
    if (redacted !== piece) changes += 1;
    return redacted;
  };
  const extra = (piece: string) => {
    const redacted = inExtras.take(piece);
    inExtras.advance(CELL_END.length);
    return redacted;
  };
  const walk: Walk = {
    text,
    gap: (between) => inBody.advance(between.length),
    extra: (piece) => (extra(piece) === piece ? piece : ''),
    link: (link) => {
      const before = changes;
      const content = walkInlines(link.content, walk);
      if (changes > before) {
        if (!isBareLink(link)) inExtras.advance(link.href.length + CELL_END.length);
        return content;
      }
      const href = isBareLink(link) ? link.href : extra(link.href);
      return href === link.href ? [{ ...link, content }] : [...content, { kind: 'text', text: ` (${href})` }];
    },
    table: (rows) => rows.map((row) => row.map((cell) => walkCell(cell, walk))),
  };
  return walkBlocks(blocks, walk);
}

/** Called for each part of a note in reading order. */
type Walk = {
  readonly text: (piece: string) => string;
  /** Separates two pieces; not part of the note. */
  readonly gap: (between: string) => void;
  readonly extra: (piece: string) => string;
  readonly link: (link: NoteLink) => readonly NoteInline[];
  readonly table: (rows: Cells) => Cells;
};

function walkBlocks(blocks: readonly NoteBlock[], walk: Walk): readonly NoteBlock[] {
  return blocks.map((block) => {
    const walked = walkBlock(block, walk);
    walk.gap(BLOCK_END);
    return walked;
  });
}

function walkBlock(block: NoteBlock, walk: Walk): NoteBlock {
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      return { ...block, content: walkInlines(block.content, walk) };
    case 'code':
      return {
        ...block,
        language: block.language === '' ? '' : walk.extra(block.language),
        text: walk.text(block.text),
      };
    case 'quote':
      return { ...block, blocks: walkBlocks(block.blocks, walk) };
    case 'list':
      return { ...block, items: block.items.map((item) => walkBlocks(item, walk)) };
    case 'table':
      return { ...block, rows: walk.table(block.rows) };
    case 'rule':
      return block;
    default:
      return unreachable(block);
  }
}

function walkCell(cell: readonly NoteInline[], walk: Walk): readonly NoteInline[] {
  const walked = walkInlines(cell, walk);
  walk.gap(CELL_END);
  return walked;
}

function walkInlines(content: readonly NoteInline[], walk: Walk): readonly NoteInline[] {
  return content.flatMap((inline): readonly NoteInline[] => {
    switch (inline.kind) {
      case 'text':
      case 'code': {
        const text = walk.text(inline.text);
        walk.gap(SEAM);
        return text === '' ? [] : [{ ...inline, text }];
      }
      case 'break':
        walk.gap('\n');
        return [inline];
      case 'link':
        return walk.link(inline);
      case 'strong':
      case 'emphasis':
      case 'deleted': {
        const inner = walkInlines(inline.content, walk);
        return inner.length === 0 ? [] : [{ ...inline, content: inner }];
      }
      default:
        return unreachable(inline);
    }
  });
}

/** Takes a text piece by piece and returns it with its secrets hidden. */
type Hider = { readonly take: (piece: string) => string; readonly advance: (length: number) => void };

/** Starts at a position of the text that the secrets were found in. */
export function hider(secrets: readonly Secret[], start: number, onHidden: (kind: SecretKind) => void): Hider {
  let at = start;
  let next = secrets.findIndex(({ to }) => to > start);
  if (next < 0) next = secrets.length;
  let shown = -1;
  const take = (piece: string): string => {
    const [from, end] = [at, at + piece.length];
    at = end;
    const parts: string[] = [];
    let done = from;
    for (let secret = secrets[next]; secret !== undefined && secret.from < end; secret = secrets[next]) {
      if (secret.to > done) {
        parts.push(piece.slice(done - from, Math.max(secret.from, done) - from));
        // A secret that spans several pieces is marked in the first.
        if (shown !== next) {
          parts.push(hiddenMarker(secret.kind));
          onHidden(secret.kind);
          shown = next;
        }
        done = Math.min(secret.to, end);
      }
      if (secret.to > end) break;
      next += 1;
    }
    parts.push(piece.slice(done - from));
    return parts.join('');
  };
  const advance = (length: number) => {
    at += length;
  };
  return { take, advance };
}
