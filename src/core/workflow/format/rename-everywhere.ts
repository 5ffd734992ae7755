import { quote } from '../../json/quote.ts';
import type { Edit, Fix } from '../diagnostics/diagnostic.ts';
import type { SourceNode } from '../source/source-node.ts';

/** What a name is the name of, which tells where it may be referred to. */
export type NameRole = 'step' | 'loop' | 'condition' | 'assessment' | 'slot' | 'context_key' | 'local';

type StringNode = Extract<SourceNode, { kind: 'string' }>;

/** The texts of a file that give something a name or may refer to one. */
export type Mentions = {
  readonly taken: ReadonlySet<string>;
  readonly byKey: ReadonlyMap<string, readonly StringNode[]>;
  readonly withPlaceholders: readonly StringNode[];
};

/** Keys whose texts refer to things of a kind. */
const REFERRING_KEYS: { readonly [role in NameRole]: readonly string[] } = {
  // In the design spelling a loop is named by its loop id alone.
  step: ['body', 'loopId'],
  loop: ['loopId'],
  condition: ['conditionId'],
  assessment: ['assessmentRefs', 'forAssessment'],
  slot: [],
  context_key: ['var', 'items', 'count', 'contextKey'],
  local: [],
};
const NAMING_KEYS: readonly string[] = ['id', 'loopId', 'slotId', 'contextKey'];
const ALL_REFERRING_KEYS: ReadonlySet<string> = new Set(Object.values(REFERRING_KEYS).flat());

/** Looks through a file once, for all names in it that may turn out to be wrong. */
export function mentionsIn(root: SourceNode): Mentions {
  const taken = new Set<string>();
  const byKey = new Map<string, StringNode[]>();
  const withPlaceholders: StringNode[] = [];
  visitTexts(root, '', (text, key) => {
    if (NAMING_KEYS.includes(key)) taken.add(text.value);
    if (text.value.includes('{{')) withPlaceholders.push(text);
    if (!ALL_REFERRING_KEYS.has(key)) return;
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, [text]);
    else known.push(text);
  });
  return { taken, byKey, withPlaceholders };
}

/** Renames something, and whatever in the file refers to it: a fix must not break what was whole. */
export function renameEverywhere(mentions: Mentions, node: StringNode, name: { role: NameRole; to: string }): Fix {
  const edits = new Map<number, Edit>([[node.span.offset, { ...node.span, text: quote(name.to) }]]);
  const change = ({ value, span }: StringNode, renamed: string) => {
    if (renamed !== value && !edits.has(span.offset)) edits.set(span.offset, { ...span, text: quote(renamed) });
  };
  const from = node.value;
  for (const key of REFERRING_KEYS[name.role]) {
    for (const text of mentions.byKey.get(key) ?? []) {
      if (text.value === from) change(text, name.to);
      else if (key === 'var' && text.value.startsWith(`${from}.`))
        change(text, name.to + text.value.slice(from.length));
    }
  }
  const prefix = name.role === 'slot' ? 'wr.bindings.' : '';
  if (name.role === 'slot' || name.role === 'context_key') {
    for (const text of mentions.withPlaceholders) {
      change(text, withPlaceholder(text.value, `${prefix}${from}`, `${prefix}${name.to}`));
    }
  }
  const others = edits.size === 1 ? '' : `, also in the ${edits.size - 1} places that refer to it`;
  return { title: `Replace it with ${quote(name.to)}${others}`, edits: [...edits.values()] };
}

/** Changes what stands between braces: `{{name}}` and `{{name.more}}`. */
function withPlaceholder(text: string, from: string, to: string): string {
  if (!text.includes(from)) return text;
  return text.replaceAll(/(?<=\{\{\s*)[^{}\s](?:[^{}]*[^{}\s])?(?=\s*\}\})/g, (path) =>
    path === from || path.startsWith(`${from}.`) ? to + path.slice(from.length) : path,
  );
}

/** Every text with the key it stands under; the entries of a list stand under the key of the list. */
function visitTexts(node: SourceNode, key: string, visit: (text: StringNode, key: string) => void): void {
  if (node.kind === 'string') visit(node, key);
  else if (node.kind === 'array') for (const item of node.items) visitTexts(item, key, visit);
  else if (node.kind === 'object') {
    for (const { name, value } of node.fields.values()) visitTexts(value, name, visit);
  }
}
