import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { err, ok, type Result } from 'neverthrow';
import { quote } from '../../json/json-value.ts';
import { utf8Length } from '../../text/utf8.ts';
import { characterCode, hiddenCharacters, withoutHidden } from '../../text/visible-text.ts';
import { shortList } from '../../text/words.ts';
import type { Diagnostic, Diagnostics, Fix, SourceSpan } from '../diagnostics/diagnostic.ts';
import { pointerTo, type SourceField, type SourceNode } from './source-node.ts';

/** Names with a meaning of their own in the language underneath. */
export const RESERVED_NAMES: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Control characters, zero-width characters and those that turn the direction of writing. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The text as a reader sees it. */
export function visible(text: string): string {
  return text.toWellFormed().replaceAll(INVISIBLE, '');
}

/** Larger files are not workflows; reading them would only delay the listing of the others. */
export const WORKFLOW_FILE_BYTES_MAX = 4_194_304;
/** Workflows nest a handful of loops; deeper files are mistakes or attacks. */
export const FILE_DEPTH_MAX = 64;
/** Far above the largest real workflow, far below what would be slow. */
export const FILE_VALUES_MAX = 200_000;
/** Keys are part of the pointers of everything below them. */
export const FILE_KEY_LENGTH_MAX = 256;

/** Reads a file into values that know their place. What is odd but can be read is added to the diagnostics. */
export function parseSource(text: string, diagnostics: Diagnostics): Result<SourceNode, Diagnostic> {
  const commas: number[] = [];
  const limit = overLimit(text, commas);
  if (limit !== undefined) return err(limit);
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { disallowComments: true, allowTrailingComma: true, allowEmptyContent: false });
  const first = errors[0];
  if (first !== undefined || tree === undefined) return err(syntaxError(first, text));
  const root = sourceNode(tree, '', diagnostics);
  for (const offset of commas) diagnostics.add(trailingComma(innermost(root, offset).pointer, { offset, length: 1 }));
  return ok(root);
}

/** The values of a file that is still being written, as far as they can be made out. */
export function parseUnfinished(text: string, diagnostics: Diagnostics): SourceNode | undefined {
  if (overLimit(text, []) !== undefined) return undefined;
  const tree = parseTree(text, [], { allowTrailingComma: true });
  return tree && sourceNode(tree, '', diagnostics);
}

/** The object or list that a place in the file belongs to. */
function innermost(node: SourceNode, offset: number): SourceNode {
  const inside =
    node.kind === 'array'
      ? node.items
      : node.kind === 'object'
        ? [...node.fields.values()].map(({ value }) => value)
        : [];
  const found = inside.find(({ span }) => span.offset < offset && offset < span.offset + span.length);
  return found === undefined ? node : innermost(found, offset);
}

/** Many editors write it, and it cannot mean anything else. */
function trailingComma(pointer: string, span: SourceSpan): Diagnostic {
  const message = 'The comma after the last value is not JSON, and other programs may refuse the file. Remove it.';
  const fix = { title: 'Remove the comma', edits: [{ ...span, text: '' }] };
  return { code: 'trailing_comma', severity: 'warning', pointer, span, message, fix };
}

function overLimit(text: string, commas: number[]): Diagnostic | undefined {
  const bytes = utf8Length(text);
  if (bytes > WORKFLOW_FILE_BYTES_MAX) {
    const message = `The file has ${bytes} bytes; a workflow file may have ${WORKFLOW_FILE_BYTES_MAX}. Split it or move long texts into documents.`;
    return fatal('file_too_large', { offset: 0, length: 0 }, message);
  }
  return tooDeepOrMany(text, commas);
}

/** Looked at before the tree is built, because building it recurses. Collects the places of commas before a closing bracket. */
function tooDeepOrMany(text: string, commas: number[]): Diagnostic | undefined {
  let depth = 0;
  let values = 0;
  let comma = -1;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    const isClosing = character === '}' || character === ']';
    if (isClosing && comma !== -1) commas.push(comma);
    if (character === ',') comma = at;
    else if (character.trim() !== '') comma = -1;
    if (character === '"') at = endOfString(text, at);
    else if (character === '{' || character === '[') depth += 1;
    else if (isClosing) depth -= 1;
    else if (character === ',') values += 1;
    if (depth > FILE_DEPTH_MAX) {
      const message = `Values are nested more than ${FILE_DEPTH_MAX} levels deep here. Flatten them.`;
      return fatal('too_deep', { offset: at, length: 1 }, message);
    }
    if (values > FILE_VALUES_MAX) {
      const message = `The file has more than ${FILE_VALUES_MAX} values. Split it.`;
      return fatal('too_many_values', { offset: at, length: 1 }, message);
    }
  }
  return undefined;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') at += 1;
    else if (character === '"') return at;
  }
  return text.length;
}

function sourceNode(node: Node, pointer: string, diagnostics: Diagnostics): SourceNode {
  const head = { span: { offset: node.offset, length: node.length }, pointer };
  switch (node.type) {
    case 'object':
      return { ...head, kind: 'object', fields: sourceFields(node, pointer, diagnostics) };
    case 'array': {
      const items = (node.children ?? []).map((item, i) => sourceNode(item, pointerTo(pointer, i), diagnostics));
      return { ...head, kind: 'array', items };
    }
    case 'string': {
      const value = String(node.value);
      const odd = oddText(value, head.span);
      if (odd !== undefined) diagnostics.add({ ...odd, ...head, severity: 'error' });
      return { ...head, kind: 'string', value };
    }
    case 'number': {
      const value = Number(node.value);
      const message = 'This number is too large to be read exactly. Write a smaller one.';
      if (!Number.isFinite(value)) diagnostics.add({ ...head, code: 'bad_number', severity: 'error', message });
      return { ...head, kind: 'number', value };
    }
    case 'boolean':
      return { ...head, kind: 'boolean', value: node.value === true };
    default:
      return { ...head, kind: 'null' };
  }
}

function sourceFields(node: Node, pointer: string, diagnostics: Diagnostics): ReadonlyMap<string, SourceField> {
  const fields = new Map<string, SourceField>();
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    // Only in a file that is being written.
    if (key === undefined || value === undefined) continue;
    const name = String(key.value).slice(0, FILE_KEY_LENGTH_MAX);
    const at = pointerTo(pointer, name);
    const nameSpan = { offset: key.offset, length: key.length };
    const odd = fields.has(name) ? twice(name) : oddName(String(key.value), nameSpan);
    if (odd !== undefined) diagnostics.add({ ...odd, severity: 'error', pointer: at, span: nameSpan });
    const span = { offset: property.offset, length: property.length };
    fields.set(name, { name, nameSpan, span, value: sourceNode(value, at, diagnostics) });
  }
  return fields;
}

type Oddity = Pick<Diagnostic, 'code' | 'message'> & { readonly fix?: Fix };

function twice(name: string): Oddity {
  const message = `"${name}" is written twice in this object; the later one would win. Remove one of them.`;
  return { code: 'duplicate_key', message };
}

/** Nearly every key: nothing in it needs a closer look. */
const PLAIN = /^[ -~]*$/;

function oddName(name: string, span: SourceSpan): Oddity | undefined {
  if (name.length > FILE_KEY_LENGTH_MAX) {
    return { code: 'text_too_long', message: `A key may have ${FILE_KEY_LENGTH_MAX} characters, not ${name.length}.` };
  }
  if (RESERVED_NAMES.includes(name)) {
    return { code: 'reserved_key', message: `"${name}" may not be used as a key. Choose another name.` };
  }
  if (PLAIN.test(name)) return undefined;
  const seen = visible(name);
  if (seen === name) return undefined;
  return {
    code: 'bad_text',
    message: `This key contains characters that cannot be seen; it reads as "${seen}". Type it again.`,
    ...(seen === '' ? {} : { fix: { title: `Replace it with "${seen}"`, edits: [{ ...span, text: quote(seen) }] } }),
  };
}

function oddText(value: string, span: SourceSpan): Oddity | undefined {
  if (PLAIN.test(value)) return undefined;
  const whole = value.toWellFormed();
  if (whole !== value) {
    return {
      code: 'bad_text',
      message: 'This text contains half a character (a lone surrogate). Type it again.',
      fix: { title: 'Insert a replacement character', edits: [{ ...span, text: quote(whole) }] },
    };
  }
  const hidden = hiddenCharacters(value);
  return hidden.length === 0 ? undefined : hiddenText(value, hidden, span);
}

/** What a person cannot see, a model may still read: a text must not say more than its author's reviewers saw. */
function hiddenText(value: string, hidden: readonly string[], span: SourceSpan): Oddity {
  const names = shortList(hidden.map(characterCode));
  return {
    code: 'hidden_character',
    message: `This text contains characters that cannot be seen or that change the direction of text: ${names}. Remove them.`,
    fix: { title: 'Remove these characters', edits: [{ ...span, text: quote(withoutHidden(value)) }] },
  };
}

function syntaxError(error: ParseError | undefined, text: string): Diagnostic {
  if (error === undefined || text.trim() === '')
    return fatal('not_json', { offset: 0, length: 0 }, 'The file is empty.');
  const isAtEnd = error.offset >= text.length;
  const where = isAtEnd ? ' at the end' : ` near ${quote(text.slice(error.offset, error.offset + 20))}`;
  const { what, advice } = syntaxWords(printParseErrorCode(error.error), text, error.offset);
  const message = `This is not JSON${what === undefined ? '' : `: ${what}`}${where}.${advice === undefined ? '' : ` ${advice}`}`;
  return fatal('not_json', { offset: error.offset, length: error.length }, message);
}

type SyntaxWords = { readonly what?: string; readonly advice?: string };

/** What an author has to change, by the kind of error of the parser. */
const SYNTAX_WORDS: { readonly [code: string]: SyntaxWords } = {
  PropertyNameExpected: { what: 'a key in double quotes is expected' },
  ValueExpected: { what: 'a value is missing' },
  ColonExpected: { what: 'a colon is missing' },
  CommaExpected: { what: 'a comma is missing' },
  CloseBraceExpected: { what: 'a closing brace } is missing' },
  CloseBracketExpected: { what: 'a closing bracket ] is missing' },
  EndOfFileExpected: { what: 'the file should end here,', advice: 'Remove what follows.' },
  InvalidCommentToken: {
    what: 'comments are not allowed',
    advice: 'Remove the comment, or put it into a key such as "$comment".',
  },
  UnexpectedEndOfString: {
    what: 'the text does not end on its line,',
    advice: 'Write a line break as \\n, and a quotation mark inside a text as \\".',
  },
  InvalidEscapeCharacter: { what: 'an invalid backslash,', advice: 'Write a backslash as \\\\.' },
  InvalidUnicode: { what: 'an invalid backslash,', advice: 'Write four hexadecimal digits after \\u.' },
  InvalidCharacter: {
    what: 'a character that must not stand inside a text,',
    advice: 'Write a tab as \\t and a line break as \\n.',
  },
};

function syntaxWords(code: string, text: string, offset: number): SyntaxWords {
  const known = SYNTAX_WORDS[code];
  if (known !== undefined) return known;
  const rest = text.slice(offset);
  const before = text.slice(0, offset).trimEnd().at(-1);
  if (/^['`\u2018\u2019\u201c\u201d]/.test(rest)) return { advice: 'Use double quotes.' };
  if (before === '"') return { advice: 'Write a quotation mark inside a text as \\".' };
  if (/^(?:true|false|none|null|nil|undefined)\b/i.test(rest)) {
    return { advice: 'Write true, false or null in lower case.' };
  }
  if (/^[\w$-]+\s*:/.test(rest)) return { advice: 'Put the key in double quotes.' };
  return { advice: 'Put texts in double quotes.' };
}

function fatal(code: Diagnostic['code'], span: SourceSpan, message: string): Diagnostic {
  return { code, severity: 'error', pointer: '', span, message };
}
