import { quote } from '../../json/json-value.ts';
import { nearest } from '../../text/spelling.ts';
import type {
  CompilerFinding,
  Diagnostic,
  DiagnosticCode,
  Diagnostics,
  Fix,
  SourceSpan,
} from '../diagnostics/diagnostic.ts';
import type { SourceField, SourceNode, SourceObject, SourceText } from '../source/source-node.ts';

/** Collects what is wrong while a file is read; reading continues, so that an author sees everything at once. */
export type Reader = {
  readonly diagnostics: Diagnostics;
  readonly root: SourceNode;
  /** What wrong names should become, by what they were. */
  readonly renamed: Map<string, string>;
  /** Where names may stand in the file; looked for when the first wrong one is met. */
  readonly mentions: () => Mentions;
  /** What can only be checked once everything was read. */
  readonly uses: Uses;
  readonly findings: CompilerFinding[];
};

/** The texts of a file that give something a name or may refer to one. */
export type Mentions = {
  readonly taken: ReadonlySet<string>;
  /** By what they refer to. */
  readonly byRole: ReadonlyMap<string, readonly SourceText[]>;
  readonly withPlaceholders: readonly SourceText[];
};

/** Places that refer to a named condition, hold a pattern, or stand for the decision about a loop. */
export type Uses = {
  readonly conditions: { readonly at: string; readonly conditionId: string }[];
  readonly patterns: { readonly at: string; readonly pattern: string; readonly flags: string }[];
  /** Conditions that stand for the loop-control artifact, with what they say. */
  readonly loopControls: Map<string, 'continue' | 'stop' | undefined>;
  /** Conditions that only hold another one, with the place of that one. */
  readonly wrapped: Map<string, string>;
  /** The whole conditions of loops. */
  readonly loopConditions: { readonly at: string; readonly type: 'while' | 'until' }[];
};

/** Where a diagnostic belongs. */
export type SourcePlace = { readonly pointer: string; readonly span: SourceSpan };

export type ReadProblem = { readonly code: DiagnosticCode; readonly message: string; readonly fix?: Fix | undefined };

export function reportError(reader: Reader, place: SourcePlace, problem: ReadProblem): undefined {
  report(reader, 'error', { place, problem });
  return undefined;
}

export function reportWarning(reader: Reader, place: SourcePlace, problem: ReadProblem): void {
  report(reader, 'warning', { place, problem });
}

function report(
  reader: Reader,
  severity: Diagnostic['severity'],
  found: { place: SourcePlace; problem: ReadProblem },
): void {
  const { code, message, fix } = found.problem;
  const { pointer, span } = found.place;
  reader.diagnostics.add({ code, severity, pointer, span, message, ...(fix === undefined ? {} : { fix }) });
}

/** An object, or a report that something else stands there. */
export function asObject(reader: Reader, node: SourceNode, what: string): SourceObject | undefined {
  if (node.kind === 'object') return node;
  return reportError(reader, node, wrongType(what, 'an object', node));
}

export function wrongType(what: string, expected: string, node: SourceNode): ReadProblem {
  return { code: 'wrong_type', message: `${what} must be ${expected}, not ${describe(node)}.` };
}

export function field(object: SourceObject, name: string): SourceNode | undefined {
  return object.fields.get(name)?.value;
}

/** Keys that hold an agent back or hold it to something: a step with one that is misspelled would run unguarded. */
const GATE_KEYS: readonly string[] = [
  'runCondition',
  'requireConfirmation',
  'userDependency',
  'outputContract',
  'validationCriteria',
  'assessmentRefs',
  'checks',
  'assurance',
  'sets',
  'accountsFor',
  'collects',
  'loop',
];

/** Reports unknown keys. Those that seem to mean a gate are errors, and so is every one in a closed object. */
export function checkKeys(
  reader: Reader,
  object: SourceObject,
  known: { readonly keys: readonly string[]; readonly isClosed?: boolean },
): void {
  // Two keys that are renamed to the same one would be a key that stands there twice.
  const given = new Set<string>();
  for (const found of unknownKeys(object, known.keys)) {
    const gate = meantGate(found, known.keys);
    const severity = known.isClosed === true || gate !== undefined ? 'error' : 'warning';
    if (reader.diagnostics.isFull(severity)) {
      reader.diagnostics.count(severity);
      continue;
    }
    const meant = gate ?? meantKey(object, found, known.keys);
    const isFree = meant !== undefined && known.keys.includes(meant) && !object.fields.has(meant) && !given.has(meant);
    if (isFree) given.add(meant);
    const problem: ReadProblem = {
      code: 'unknown_key',
      message: `Unknown key "${found.name}"${severity === 'error' ? '' : ' (ignored)'}. ${keyAdvice(object, meant, known.keys)}`,
      fix: isFree ? renameTo(found, meant) : undefined,
    };
    const place = { pointer: found.value.pointer, span: found.nameSpan };
    report(reader, severity, { place, problem });
  }
}

function keyAdvice({ fields }: SourceObject, meant: string | undefined, known: readonly string[]): string {
  if (meant === undefined) return `Known: ${known.join(', ')}.`;
  if (!known.includes(meant)) return `"${meant}" has no effect here. Move it to a step that supports it, or remove it.`;
  return fields.has(meant) ? `"${meant}" is set already. Keep one of them.` : `Did you mean "${meant}"?`;
}

/** The gate that an unknown key most likely means: one that this object may have, or one that is in the wrong object. */
function meantGate({ name }: SourceField, known: readonly string[]): string | undefined {
  const closest = nearest(name, known);
  if (closest !== undefined) return GATE_KEYS.includes(closest) ? closest : undefined;
  const written = plainLetters(name);
  const gates = GATE_KEYS.filter((gate) => known.includes(gate));
  const isPart = (gate: string) => written.length >= PART_LENGTH_MIN && plainLetters(gate).includes(written);
  const other = OTHER_GATE_WORDS.includes(written) ? gates.find((gate) => gate === 'requireConfirmation') : undefined;
  return other ?? gates.find(isPart) ?? GATE_KEYS.find((gate) => plainLetters(gate) === written);
}

/** What authors call `requireConfirmation` who know it from elsewhere. */
const OTHER_GATE_WORDS: readonly string[] = [
  'approval',
  'approvalrequired',
  'confirm',
  'gate',
  'humanapproval',
  'needsapproval',
  'needsconfirmation',
  'requireapproval',
  'requiresapproval',
  'signoff',
  'userapproval',
];

/** Shorter parts of a name mean too many things. "criteria" and "contract" are as long. */
const PART_LENGTH_MIN = 8;

function plainLetters(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}

/** Whether a key is there under a name that is only misspelled, so that it is not to be added. */
export function isMisspelled(object: SourceObject, key: string, known: readonly string[]): boolean {
  return unknownKeys(object, known).some((found) => meantKey(object, found, known) === key);
}

function unknownKeys({ fields }: SourceObject, known: readonly string[]): readonly SourceField[] {
  return [...fields.values()].filter(({ name }) => !known.includes(name) && !name.startsWith('$'));
}

function meantKey({ fields }: SourceObject, { name }: SourceField, known: readonly string[]): string | undefined {
  return nearest(
    name,
    known.filter((key) => !fields.has(key)),
  );
}

function renameTo({ nameSpan, name }: SourceField, meant: string): Fix {
  return { title: `Rename "${name}" to "${meant}"`, edits: [{ ...nameSpan, text: quote(meant) }] };
}

export function reportMissing(
  reader: Reader,
  object: SourceObject,
  { name, known }: { readonly name: string; readonly known: readonly string[] },
): undefined {
  const meant = unknownKeys(object, known).find((found) => meantKey(object, found, known) === name);
  const advice = meant === undefined ? 'Add it.' : `Rename "${meant.name}" to "${name}".`;
  return reportError(reader, object, { code: 'missing_field', message: `"${name}" is missing here. ${advice}` });
}

export function choiceOf<const Choice extends string>(
  reader: Reader,
  node: SourceNode,
  rule: { readonly what: string; readonly choices: readonly Choice[] },
): Choice | undefined {
  const found = node.kind === 'string' ? rule.choices.find((choice) => choice === node.value) : undefined;
  if (found !== undefined) return found;
  const meant =
    node.kind === 'string' ? (nearest(node.value, rule.choices) ?? partOf(node.value, rule.choices)) : undefined;
  return reportError(reader, node, {
    code: 'wrong_value',
    message: `${rule.what} must be one of ${rule.choices.join(', ')}, not ${describe(node)}.`,
    fix: meant === undefined ? undefined : replaceWith(node, meant),
  });
}

/** The only choice that contains the written word. */
function partOf<const Choice extends string>(word: string, choices: readonly Choice[]): Choice | undefined {
  const [only, ...others] = word.length < 4 ? [] : choices.filter((choice) => choice.includes(word.toLowerCase()));
  return others.length === 0 ? only : undefined;
}

export function replaceWith({ span }: SourceNode, text: string): Fix {
  return { title: `Replace it with ${quote(text)}`, edits: [{ ...span, text: quote(text) }] };
}

/** A field and the comma that goes with it. */
export function removeField(object: SourceObject, name: string): Fix | undefined {
  const fields = [...object.fields.values()];
  const index = fields.findIndex((one) => one.name === name);
  const removed = fields[index];
  if (removed === undefined) return undefined;
  const end = removed.span.offset + removed.span.length;
  const before = fields[index - 1];
  const after = fields[index + 1];
  const from = before === undefined ? removed.span.offset : before.span.offset + before.span.length;
  const to = before === undefined && after !== undefined ? after.span.offset : end;
  return { title: `Remove "${name}"`, edits: [{ offset: from, length: to - from, text: '' }] };
}

export function describe(node: SourceNode): string {
  switch (node.kind) {
    case 'string':
      return node.value.length > 40 ? `the text ${quote(`${node.value.slice(0, 40)}…`)}` : quote(node.value);
    case 'number':
    case 'boolean':
      return String(node.value);
    case 'null':
      return 'null';
    case 'array':
      return 'a list';
    case 'object':
      return 'an object';
  }
}

/** Names in one list must differ, so that a reference means exactly one. */
export function checkUnique<const Name extends string>(
  found: readonly ({ readonly at: string } & { readonly [name in Name]: string })[],
  { what, name, key = name }: { readonly what: string; readonly name: Name; readonly key?: string },
  findings: CompilerFinding[],
): void {
  const seen = new Set<string>();
  for (const one of found) {
    if (seen.has(one[name])) findings.push(duplicate(what, one[name], `${one.at}/${key}`));
    seen.add(one[name]);
  }
}

export function duplicate(what: string, id: string, at: string): CompilerFinding {
  return { code: 'duplicate_id', severity: 'error', at, message: `The ${what} "${id}" is used twice. Rename one.` };
}
