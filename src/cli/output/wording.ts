const SHOWN_MAX = 5;

/** A number with its noun. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Names the first few; a list that fills the screen helps nobody. */
export function shortList(names: readonly string[]): string {
  const more = names.length - SHOWN_MAX;
  return more > 0 ? `${names.slice(0, SHOWN_MAX).join(', ')} and ${more} more` : names.join(', ');
}

const UNITS = ['kB', 'MB', 'GB', 'TB'];

/** A size as people read it. */
export function sizeOf(bytes: number): string {
  let size = bytes;
  let unit = 'B';
  for (const next of UNITS) {
    if (size < 1_000) break;
    size /= 1_000;
    unit = next;
  }
  return `${unit === 'B' ? size : size.toFixed(1)} ${unit}`;
}

/** Commands in a text as a person has to type them here, also where no shell knows the program by its name. */
export function asTyped(text: string, { calledAs }: { readonly calledAs: () => string }): string {
  return text.replace(/(?<=^|[\s"`])workrail(?= (?:[a-z]|--\w))/g, () => calledAs());
}
