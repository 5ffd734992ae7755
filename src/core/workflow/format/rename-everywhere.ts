import { quote } from '../../json/json-value.ts';
import type { Edit, Fix } from '../diagnostics/diagnostic.ts';
import type { SourceNode, SourceText } from '../source/source-node.ts';
import type { Kind, NameRole } from './field.ts';
import type { Mentions } from './reader.ts';
import { visitTexts } from './text-walk.ts';

/** Looks through a file once, for all names in it that may turn out to be wrong. */
export function mentionsIn(kind: Kind, root: SourceNode): Mentions {
  const taken = new Set<string>();
  const byRole = new Map<NameRole, SourceText[]>();
  const withPlaceholders: SourceText[] = [];
  visitTexts(kind, root, (text, { names, refersTo = [] }) => {
    if (names !== undefined) taken.add(text.value);
    if (text.value.includes('{{')) withPlaceholders.push(text);
    for (const role of refersTo) {
      const known = byRole.get(role);
      if (known === undefined) byRole.set(role, [text]);
      else known.push(text);
    }
  });
  return { taken, byRole, withPlaceholders };
}

/** Renames something, and whatever in the file refers to it: a fix must not break what was whole. */
export function renameEverywhere(mentions: Mentions, node: SourceText, name: { role: NameRole; to: string }): Fix {
  const edits = new Map<number, Edit>([[node.span.offset, { ...node.span, text: quote(name.to) }]]);
  const change = ({ value, span }: SourceText, renamed: string) => {
    if (renamed !== value && !edits.has(span.offset)) edits.set(span.offset, { ...span, text: quote(renamed) });
  };
  const from = node.value;
  for (const text of mentions.byRole.get(name.role) ?? []) {
    const isPath = name.role === 'context_key' && text.value.startsWith(`${from}.`);
    if (text.value === from || isPath) change(text, name.to + text.value.slice(from.length));
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
