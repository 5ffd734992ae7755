/** A tag with its attributes. */
export type XmlTag = {
  readonly name: string;
  readonly kind: 'start' | 'end' | 'empty';
  readonly attributes: ReadonlyMap<string, string>;
};

/** Where a mark is next, from a place on; -1 if nowhere. */
export type MarkSearch = (mark: RegExp, from: number) => number;

const TAG = /</g;
const QUOTE_OR_END = /["'>]/g;
const QUOTES = { '"': /"/g, "'": /'/g } as const;
const PASSED_OVER = [
  { start: '<!--', end: /-->/g, length: 3 },
  { start: '<![CDATA[', end: /\]\]>/g, length: 3 },
  { start: '<?', end: /\?>/g, length: 2 },
] as const;
const NAME = /(\/?)([A-Za-z_:][\w:.-]*)/y;

/** The tags of an XML text in order. What is not closed ends the reading, so that no part of the text is searched twice. */
export function* xmlTags(xml: string, search: MarkSearch = searchIn(xml)): Generator<XmlTag> {
  let at = search(TAG, 0);
  for (; at !== -1; at = search(TAG, at)) {
    const passed = PASSED_OVER.find(({ start }) => xml.startsWith(start, at));
    if (passed !== undefined) {
      const end = search(passed.end, at + passed.start.length);
      if (end === -1) return;
      at = end + passed.length;
      continue;
    }
    NAME.lastIndex = at + 1;
    const [, slash, name] = NAME.exec(xml) ?? [];
    at += 1;
    if (name === undefined) continue;
    const read = readAttributes(xml, NAME.lastIndex, search);
    if (read === undefined) return;
    at = read.end + 1;
    const kind = slash === '/' ? 'end' : xml[read.end - 1] === '/' ? 'empty' : 'start';
    yield { name, kind, attributes: read.attributes };
  }
}

function searchIn(text: string): MarkSearch {
  return (mark, from) => {
    mark.lastIndex = from;
    return mark.exec(text)?.index ?? -1;
  };
}

/** The attributes up to the `>` that ends the tag; `undefined` if nothing ends it. */
function readAttributes(
  xml: string,
  from: number,
  search: MarkSearch,
): { readonly attributes: ReadonlyMap<string, string>; readonly end: number } | undefined {
  const attributes = new Map<string, string>();
  let at = from;
  for (;;) {
    const found = search(QUOTE_OR_END, at);
    if (found === -1) return undefined;
    const quote = xml[found];
    if (quote !== '"' && quote !== "'") return { attributes, end: found };
    const end = search(QUOTES[quote], found + 1);
    if (end === -1) return undefined;
    const before = xml.slice(at, found).trim();
    const key = before.endsWith('=') ? before.slice(0, -1).trim().split(/\s/).at(-1) : undefined;
    if (key !== undefined && !attributes.has(key)) attributes.set(key, decoded(xml.slice(found + 1, end)));
    at = end + 1;
  }
}

const ENTITIES: { readonly [name: string]: string } = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function decoded(text: string): string {
  return text.replaceAll(/&(lt|gt|amp|quot|apos);/g, (_, entity: string) => ENTITIES[entity] ?? '');
}
