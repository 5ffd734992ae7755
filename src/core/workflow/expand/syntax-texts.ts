/** What a text of a syntax tree is to whoever fills it. */
export type TextUse =
  /** Read by an agent. */
  | 'text'
  /** Handed on to be read; it may be empty. */
  | 'argument'
  /** Compared or handed on as it is: braces in it may mean themselves, and it may be empty. */
  | 'value'
  /** Looked for as it is: braces in it may mean themselves. */
  | 'phrase'
  /** The name of a context value, or a pattern: nothing is put into it. */
  | 'name';

export type TextChange = {
  /** `at` is the pointer of the nearest thing around it that knows its place in the file. */
  readonly text: (text: string, use: TextUse, at: string) => string;
  /** Changes a pointer into the file; the key says whose it is. */
  readonly place: (pointer: string, key: string) => string;
};

const PLACES: ReadonlySet<string> = new Set(['at', 'idAt', 'callAt', 'loopIdAt']);
/** What no run goes by, and what says how texts are filled. */
const UNREAD: ReadonlySet<string> = new Set(['about', 'examples', 'tags', 'version', 'extensionPoints']);
const NAMES: ReadonlySet<string> = new Set(['variable', 'variables', 'count', 'pattern']);
/** What is compared or handed on as it is. */
const VALUES: ReadonlySet<string> = new Set(['value', 'items', 'contextMapping', 'config', 'default', 'choices']);
/** What holds keys of the author's own, which say nothing about their values. */
const OWN_KEYS: ReadonlySet<string> = new Set([...VALUES, 'args', 'variables']);

/**
 * The same tree with its texts changed. Whatever is not known to be something else counts as a text, so that a field
 * which is added to the syntax is filled and checked without anybody having to remember it here.
 */
export function mapSyntaxTexts<Tree>(tree: Tree, change: TextChange): Tree {
  return mapped(tree, { use: 'text', at: '', isOwn: false }, change) as Tree;
}

type Where = { readonly use: TextUse; readonly at: string; readonly isOwn: boolean };

function mapped(value: unknown, where: Where, change: TextChange): unknown {
  if (typeof value === 'string') return change.text(value, where.use, where.at);
  if (Array.isArray(value)) return value.map((item) => mapped(item, where, change));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, inner]): [string, unknown] => {
    if (where.isOwn) return [key, mapped(inner, where, change)];
    if (UNREAD.has(key)) return [key, inner];
    if (PLACES.has(key) && typeof inner === 'string') return [key, change.place(inner, key)];
    const at = 'at' in value && typeof value.at === 'string' ? value.at : where.at;
    return [key, mapped(inner, { use: useOf(value, key), at, isOwn: OWN_KEYS.has(key) }, change)];
  });
  return Object.fromEntries(fields);
}

function useOf(object: object, key: string): TextUse {
  if (NAMES.has(key)) return 'name';
  if (key === 'items') return 'items' in object && typeof object.items === 'string' ? 'name' : 'value';
  if (key === 'value' && !('comparison' in object)) return 'phrase';
  if (key === 'value') return 'comparison' in object && object.comparison === 'matches' ? 'name' : 'value';
  if (VALUES.has(key)) return 'value';
  return key === 'args' ? 'argument' : 'text';
}
