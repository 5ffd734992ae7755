import { err, ok, type Result } from 'neverthrow';
import type { Fix } from '../diagnostics/diagnostic.ts';
import { RESERVED_NAMES, visible } from '../source/parse-source.ts';
import type { SourceNode, SourceObject } from '../source/source-node.ts';
import { LEGACY_ID, NAMESPACED_ID, PLAIN_NAME, SAFE_ID, TEXT_LIMITS, VARIABLE_NAME } from './limits.ts';
import { describe, field, type Reader, replaceWith, reportError, reportMissing, textOf } from './reader.ts';
import { type NameRole, renameEverywhere } from './rename-everywhere.ts';

/** An id that is safe wherever ids are joined. One that is not was reported, and still is what others refer to. */
export function idOf(
  reader: Reader,
  node: SourceNode,
  { what, role }: { readonly what: string; readonly role: NameRole },
): string | undefined {
  const text = textOf(reader, node, { what, bytesMax: TEXT_LIMITS.id });
  if (text === undefined || SAFE_ID.test(text)) return text;
  const safe = plainLetters(text)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  const message = `${what} uses lower-case letters, digits, "_" and "-" only, not ${describe(node)}.`;
  reportError(reader, node, { code: 'bad_id', message, fix: rename(reader, node, { role, safe, between: '-' }) });
  return text;
}

/** A name that is only used inside of its file. One that is wrong was reported, and still is what others refer to. */
export function readName(
  reader: Reader,
  object: SourceObject,
  { name, role }: { readonly name: string; readonly role: NameRole },
): string | undefined {
  const node = field(object, name);
  if (node === undefined) return reportMissing(reader, object, name);
  const text = textOf(reader, node, { what: `"${name}"`, bytesMax: TEXT_LIMITS.id });
  if (text === undefined || PLAIN_NAME.test(text)) return text;
  const safe = plainLetters(text).replaceAll(/[^A-Za-z0-9_.-]+/g, '_');
  const message = `"${name}" uses letters, digits, "_", "-" and "." only, not ${describe(node)}.`;
  const fix = PLAIN_NAME.test(safe) ? rename(reader, node, { role, safe, between: '_' }) : undefined;
  reportError(reader, node, { code: 'bad_id', message, fix });
  return text;
}

/** The key of a context value that a user is asked for: it stands in the pointers of blockers. */
export function readContextKey(reader: Reader, object: SourceObject): string | undefined {
  const node = field(object, 'contextKey');
  const key = node && textOf(reader, node, { what: '"contextKey"', bytesMax: TEXT_LIMITS.id });
  if (node === undefined || key === undefined) return undefined;
  if (SAFE_ID.test(key)) return contextName(reader, node, '"contextKey"');
  const safe = plainLetters(key)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '_');
  const message = '"contextKey" uses lower-case letters, digits, "_" and "-" only.';
  const fix = SAFE_ID.test(safe) ? rename(reader, node, { role: 'context_key', safe, between: '_' }) : undefined;
  return reportError(reader, node, { code: 'bad_id', message, fix });
}

/** The key of a context value or a dotted path to one. */
export function contextName(reader: Reader, node: SourceNode, what: string): string | undefined {
  const name = textOf(reader, node, { what, bytesMax: TEXT_LIMITS.path });
  if (name === undefined) return undefined;
  const seen = visible(name);
  if (seen !== name) {
    const message = `${what} reads as "${seen}", but has characters that cannot be seen. Type it anew.`;
    return reportError(reader, node, { code: 'bad_text', message });
  }
  // The compiler's own places are told as such when texts are filled.
  if (/[{}]/.test(name) && !/\{\{\s*wr\./.test(name)) return reportBraces(reader, node, { what, name });
  const reserved = name.split('.').find((part) => RESERVED_NAMES.includes(part));
  return reserved === undefined ? name : reportReserved(reader, node, reserved);
}

/** Only texts have places for values: a name with braces would be looked for as it stands. */
function reportBraces(
  reader: Reader,
  node: SourceNode,
  { what, name }: { readonly what: string; readonly name: string },
): undefined {
  const [, meant] = /^\{\{?\s*([^\s{}]+)\s*\}?\}$/.exec(name) ?? [];
  const message = `${what} is the name of a context value, written without braces.`;
  const fix = meant === undefined ? undefined : replaceWith(node, meant);
  return reportError(reader, node, { code: 'wrong_value', message, fix });
}

/** The name under which the steps of a loop find one of its values. */
export function readVariableName(reader: Reader, object: SourceObject, name: string): string | undefined {
  const node = field(object, name);
  const text = node && textOf(reader, node, { what: `"${name}"`, bytesMax: TEXT_LIMITS.variable });
  if (node === undefined || text === undefined) return undefined;
  if (RESERVED_NAMES.includes(text)) return reportReserved(reader, node, text);
  if (VARIABLE_NAME.test(text)) return text;
  const safe = plainLetters(text).replaceAll(/[^A-Za-z0-9_-]+/g, '_');
  const message = `"${name}" is made of letters, digits, "_" and "-" and begins with a letter or "_", so that {{name}} finds it; not ${describe(node)}.`;
  const fix = VARIABLE_NAME.test(safe) ? rename(reader, node, { role: 'context_key', safe, between: '_' }) : undefined;
  return reportError(reader, node, { code: 'bad_id', message, fix });
}

function reportReserved(reader: Reader, node: SourceNode, name: string): undefined {
  return reportError(reader, node, {
    code: 'reserved_key',
    message: `"${name}" may not be the name of a value. Choose another one.`,
  });
}

/** Without marks on letters and without what cannot be seen. */
function plainLetters(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}|\p{Cf}/gu, '');
}

/** A fix is only worth finding while the diagnostic is still shown. */
function rename(
  reader: Reader,
  node: SourceNode,
  { role, safe, between }: { readonly role: NameRole; readonly safe: string; readonly between: string },
): Fix | undefined {
  if (safe === '' || node.kind !== 'string' || reader.diagnostics.isFull('error')) return undefined;
  return renameEverywhere(reader.mentions(), node, {
    role,
    to: freeName(reader, `${role} ${node.value}`, { safe, between }),
  });
}

/** Two names that would become one become two. */
function freeName(reader: Reader, key: string, wanted: { readonly safe: string; readonly between: string }): string {
  const known = reader.renamed.get(key);
  if (known !== undefined) return known;
  const given = new Set(reader.renamed.values());
  const isTaken = (one: string) => given.has(one) || reader.mentions().taken.has(one);
  let name = wanted.safe;
  for (let i = 2; isTaken(name); i++) name = `${wanted.safe}${wanted.between}${i}`;
  reader.renamed.set(key, name);
  return name;
}

export type IdRefusal =
  | { readonly code: 'id_legacy'; readonly id: string }
  | { readonly code: 'id_reserved'; readonly id: string }
  | { readonly code: 'id_malformed'; readonly id: string };

/** Whether a workflow may be written under an id. Ids of the old kind run, but no further one comes into being. */
export function creatableId(id: string): Result<string, IdRefusal> {
  if (id.startsWith('wr.')) return err({ code: 'id_reserved', id });
  if (NAMESPACED_ID.test(id) && id.length <= TEXT_LIMITS.id) return ok(id);
  return err({ code: LEGACY_ID.test(id) ? 'id_legacy' : 'id_malformed', id });
}
