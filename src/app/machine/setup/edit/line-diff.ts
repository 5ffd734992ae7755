const CONTEXT_LINES = 3;

/** What changes between two texts, as a unified diff with one hunk; empty when nothing does. */
export function unifiedDiff(file: string, before: string | undefined, after: string): readonly string[] {
  if (before === after) return [];
  const [old, fresh] = [linesOf(before ?? ''), linesOf(after)];
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;

  const from = Math.max(0, head - CONTEXT_LINES);
  const [oldEnd, freshEnd] = [old.length - tail, fresh.length - tail];
  const rest = old.slice(oldEnd, oldEnd + CONTEXT_LINES);
  const range = (start: number, end: number) =>
    `${end + rest.length > start ? start + 1 : start},${end + rest.length - start}`;
  return [
    `--- ${before === undefined ? '/dev/null' : file}`,
    `+++ ${file}`,
    `@@ -${range(from, oldEnd)} +${range(from, freshEnd)} @@`,
    ...old.slice(from, head).map((line) => ` ${line}`),
    ...old.slice(head, oldEnd).map((line) => `-${line}`),
    ...fresh.slice(head, freshEnd).map((line) => `+${line}`),
    ...rest.map((line) => ` ${line}`),
  ];
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
