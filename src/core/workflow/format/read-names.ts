import { err, ok, type Result } from 'neverthrow';
import { RESERVED_NAMES, visible } from '../source/parse-source.ts';
import type { SourceText } from '../source/source-node.ts';
import type { NameRole, TextData } from './field.ts';
import { ID_BYTES_MAX, LEGACY_ID, legacyName, NAMESPACED_ID, TEXT_FORMS, type TextForm } from './limits.ts';
import { describe, type Reader, type ReadProblem, replaceWith, reportError, reportWarning } from './reader.ts';
import { renameEverywhere } from './rename-everywhere.ts';

/** A text that must have a form. An id that is wrong is reported and kept: others refer to it as it is. */
export function checkForm(
  reader: Reader,
  node: SourceText,
  { data, what }: { readonly data: TextData; readonly what: string },
): string | undefined {
  const { form } = data;
  if (form === undefined) return node.value;
  const { value } = node;
  const isRight = TEXT_FORMS[form].test(value);
  switch (form) {
    case 'workflow_id':
      return isRight ? checkNamespace(reader, node) : reportError(reader, node, badWorkflowId(node, what));
    case 'safe_id':
    case 'plain_name':
      if (!isRight) reportError(reader, node, badName(reader, node, { form, data, what }));
      return value;
    case 'context_key':
    case 'variable':
      if (!isRight) return reportError(reader, node, badName(reader, node, { form, data, what }));
      return checkContextName(reader, node, what);
    case 'context_name':
      return checkContextName(reader, node, what);
    case 'inside_path':
      if (isRight) return value;
      return reportError(reader, node, {
        code: 'wrong_value',
        message: `${what} must be a path inside the workspace, as in "test/**", not ${describe(node)}.`,
      });
    case 'id_prefix':
      if (isRight) return value;
      return reportError(reader, node, {
        code: 'wrong_value',
        message: `${what} must be one to four capital letters, as in "AC", not ${describe(node)}.`,
      });
    case 'argument_name':
      if (isRight) return checkContextName(reader, node, what);
      return reportError(reader, node, {
        code: 'bad_id',
        message: `${what} must be letters, digits and "_", not starting with a digit, as in "planFile", not ${describe(node)}.`,
      });
    case 'version':
      return isRight ? value : reportError(reader, node, badVersion(node, what));
    case 'function_name':
      if (isRight) return value.trim().replace(/\([\s\S]*$/, '');
      return reportError(reader, node, {
        code: data.names === undefined ? 'wrong_value' : 'bad_id',
        message: `${what} must be the name of a function: letters, digits and "_", not starting with a digit, as in "name" or "name()".`,
      });
    case 'form_line':
      if (isRight) return value;
      return reportError(reader, node, {
        code: 'wrong_value',
        message: `${what} must be one line with a blank to fill in, as in "Verdict: <fill: approve | reject>". A blank has at most 150 characters and no "<" or ">" inside.`,
      });
    case 'flags':
      if (isRight) return value;
      return reportError(reader, node, {
        code: 'wrong_value',
        message: `${what} must be any of the letters i, m and s, not ${describe(node)}.`,
      });
  }
}

/** What a name may consist of, and what a wrong one becomes. */
const NAME_WORDS: { readonly [form in TextForm]?: { readonly words: string; readonly between: string } } = {
  safe_id: { words: 'lower-case letters, digits, "_" and "-"', between: '-' },
  plain_name: { words: 'letters, digits, "_", "-" and "."', between: '_' },
  context_key: { words: 'lower-case letters, digits, "_" and "-"', between: '_' },
  variable: { words: 'letters, digits, "_" and "-", starting with a letter or "_"', between: '_' },
};

function badName(
  reader: Reader,
  node: SourceText,
  { form, data, what }: { readonly form: TextForm; readonly data: TextData; readonly what: string },
): ReadProblem {
  const { words = '', between = '_' } = NAME_WORDS[form] ?? {};
  const safe = safeName(node.value, form);
  const role = data.names ?? data.refersTo?.[0];
  return {
    code: 'bad_id',
    message: `${what} may use only ${words}, not ${describe(node)}. Rename it.`,
    fix: role !== undefined && TEXT_FORMS[form].test(safe) ? rename(reader, node, { role, safe, between }) : undefined,
  };
}

function safeName(text: string, form: TextForm): string {
  const plain = plainLetters(text);
  switch (form) {
    case 'safe_id':
      return plain
        .toLowerCase()
        .replaceAll(/[^a-z0-9_-]+/g, '-')
        .replaceAll(/^-+|-+$/g, '');
    case 'context_key':
      return plain.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '_');
    case 'plain_name':
      return plain.replaceAll(/[^A-Za-z0-9_.-]+/g, '_');
    default:
      return plain.replaceAll(/[^A-Za-z0-9_-]+/g, '_');
  }
}

/** The key of a context value or a dotted path to one. */
function checkContextName(reader: Reader, node: SourceText, what: string): string | undefined {
  const name = node.value;
  const seen = visible(name);
  if (seen !== name) {
    const message = `${what} contains characters that cannot be seen; it reads as "${seen}". Type it again.`;
    return reportError(reader, node, { code: 'bad_text', message });
  }
  // Places that the compiler fills are reported when texts are filled.
  if (/[{}]/.test(name) && !/\{\{\s*wr\./.test(name)) {
    const [, meant] = /^\{\{?\s*([^\s{}]+)\s*\}?\}$/.exec(name) ?? [];
    const message = `${what} is the name of a context value. Write it without braces.`;
    const fix = meant === undefined ? undefined : replaceWith(node, meant);
    return reportError(reader, node, { code: 'wrong_value', message, fix });
  }
  const reserved = name.split('.').find((part) => RESERVED_NAMES.includes(part));
  if (reserved === undefined) return name;
  const message = `"${reserved}" is reserved and cannot name a value. Choose another name.`;
  return reportError(reader, node, { code: 'reserved_key', message });
}

function checkNamespace(reader: Reader, node: SourceText): string {
  const id = node.value;
  if (NAMESPACED_ID.test(id)) return id;
  const message = `"${id}" is an id without a namespace. It still runs; rename it to something like "project.${legacyName(id)}".`;
  reportWarning(reader, node, { code: 'legacy_id', message });
  return id;
}

function badWorkflowId(node: SourceText, what: string): ReadProblem {
  const parts = node.value.toLowerCase().split('.').map(safePart);
  const safe = parts.length === 2 ? parts.join('.') : `project.${parts.join('_')}`;
  return {
    code: 'bad_id',
    message: `${what} must be "namespace.name" in lower-case letters, digits, "_" and "-", not ${describe(node)}.`,
    fix: NAMESPACED_ID.test(safe) ? replaceWith(node, safe) : undefined,
  };
}

function safePart(part: string): string {
  return legacyName(plainLetters(part).replaceAll(/[^a-z0-9_-]+/g, '_'));
}

function badVersion(node: SourceText, what: string): ReadProblem {
  const meant = semanticVersion(node.value);
  return {
    code: 'wrong_value',
    message: `${what} must look like 1.2.3, not ${describe(node)}.`,
    fix: meant === undefined ? undefined : replaceWith(node, meant),
  };
}

/** A version with what is usually left out or put before it. */
function semanticVersion(version: string): string | undefined {
  const [, numbers, label = ''] = /^[vV=]*(\d+(?:\.\d+){0,2})((?:[-+].*)?)$/.exec(version.trim()) ?? [];
  if (numbers === undefined) return undefined;
  const [major = 0, minor = 0, patch = 0] = numbers.split('.').map(Number);
  const meant = `${major}.${minor}.${patch}${label}`;
  return TEXT_FORMS.version.test(meant) ? meant : undefined;
}

/** Without marks on letters and without what cannot be seen. */
function plainLetters(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}|\p{Cf}/gu, '');
}

type Renaming = { readonly role: NameRole; readonly safe: string; readonly between: string };

/** A fix is only worth finding while the diagnostic is still shown. */
function rename(reader: Reader, node: SourceText, { role, safe, between }: Renaming) {
  if (reader.diagnostics.isFull('error')) return undefined;
  const to = freeName(reader, `${role} ${node.value}`, { safe, between });
  return renameEverywhere(reader.mentions(), node, { role, to });
}

/** Two names that would become one become two. */
function freeName(reader: Reader, key: string, wanted: Omit<Renaming, 'role'>): string {
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

/** Whether a workflow may be written under an id. Ids without a namespace run, but no new ones are made. */
export function creatableId(id: string): Result<string, IdRefusal> {
  if (id.startsWith('wr.')) return err({ code: 'id_reserved', id });
  if (NAMESPACED_ID.test(id) && id.length <= ID_BYTES_MAX) return ok(id);
  return err({ code: LEGACY_ID.test(id) ? 'id_legacy' : 'id_malformed', id });
}
