import { diffWordsWithSpace } from 'diff';
import { useMemo } from 'react';
import { visibleText } from '../../src/core/text/visible-text.ts';

/** A unified diff; what is added and removed is marked by its first character too. */
export function Diff({ lines }: { readonly lines: readonly string[] }) {
  return (
    <pre className="diff" tabIndex={0}>
      {lines.map((line, i) => {
        const isName = line.startsWith('+++ ') || line.startsWith('--- ');
        const Tag = isName ? 'span' : line.startsWith('+') ? 'ins' : line.startsWith('-') ? 'del' : 'span';
        return <Tag key={i}>{`${visibleText(line)}\n`}</Tag>;
      })}
    </pre>
  );
}

/** Longer texts are compared line by line, so that the page does not stand still. */
const WORDS_MAX = 20_000;

type WordsParts = { readonly before: string; readonly after: string; readonly isCode?: boolean };

/** The words of two texts; what is only in one of them is marked. */
export function Words({ before, after, isCode = false }: WordsParts) {
  const parts = useMemo(() => wordParts(before, after), [before, after]);
  if (before === '' && after === '') return null;
  return (
    <div className={isCode ? 'words code' : 'words'}>
      {parts.map(({ value, added, removed }, i) => {
        const Tag = added ? 'ins' : removed ? 'del' : 'span';
        return <Tag key={i}>{visibleText(value)}</Tag>;
      })}
    </div>
  );
}

function wordParts(before: string, after: string): readonly Part[] {
  if (before === after || before.length + after.length <= WORDS_MAX) {
    return withoutCrumbs(diffWordsWithSpace(before, after));
  }
  return [
    { value: before, added: false, removed: true },
    { value: after, added: true, removed: false },
  ];
}

type Part = { readonly value: string; readonly added: boolean; readonly removed: boolean };

/** A space or a full stop that happens to be the same between two changes belongs to both: phrases can be read. */
function withoutCrumbs(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  let [old, now] = ['', ''];
  const flush = () => {
    if (old !== '') joined.push({ value: old, added: false, removed: true });
    if (now !== '') joined.push({ value: now, added: true, removed: false });
    [old, now] = ['', ''];
  };
  for (const [i, part] of parts.entries()) {
    const next = parts[i + 1];
    const isBetween = (old !== '' || now !== '') && next !== undefined && (next.added || next.removed);
    const isCrumb = !part.added && !part.removed && isBetween && /^[^\n\p{L}\p{N}]*$/u.test(part.value);
    if (!part.added && !part.removed && !isCrumb) {
      flush();
      joined.push(part);
      continue;
    }
    if (!part.added) old += part.value;
    if (!part.removed) now += part.value;
  }
  flush();
  return joined;
}
