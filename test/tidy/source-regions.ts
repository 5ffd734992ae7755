export type RegionKind = 'code' | 'comment' | 'string' | 'pattern';
export type Region = { readonly kind: RegionKind; readonly start: number; readonly end: number };

/**
 * Splits TypeScript into code, comments, strings and regular expressions, so that a rule about code is not misled by a
 * word in a text. The expressions of a template count as code.
 */
export function sourceRegions(text: string): readonly Region[] {
  const regions: Region[] = [];
  const openTemplates: number[] = [];
  let depth = 0;
  let codeStart = 0;
  let at = 0;

  const take = (kind: RegionKind, end: number) => {
    if (codeStart < at) regions.push({ kind: 'code', start: codeStart, end: at });
    if (at < end) regions.push({ kind, start: at, end });
    at = end;
    codeStart = end;
  };
  const takeTemplate = (start: number) => {
    const end = templateEnd(text, start);
    if (text.startsWith('${', end - 2)) openTemplates.push(depth++);
    take('string', end);
  };

  while (at < text.length) {
    const character = text.charAt(at);
    if (text.startsWith('//', at)) take('comment', lineEnd(text, at));
    else if (text.startsWith('/*', at)) take('comment', after(text, '*/', at + 2));
    else if (character === "'" || character === '"') take('string', quoteEnd(text, at, character));
    else if (character === '`') takeTemplate(at + 1);
    else if (character === '}' && openTemplates.at(-1) === depth - 1) {
      openTemplates.pop();
      depth--;
      takeTemplate(at + 1);
    } else if (character === '/' && isPatternStart(text, at)) take('pattern', patternEnd(text, at));
    else {
      if (character === '{') depth++;
      if (character === '}') depth--;
      at++;
    }
  }
  take('code', text.length);
  return regions;
}

/** Behind the closing backtick, or behind the `${` that opens an expression. */
function templateEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    if (text.charAt(at) === '\\') at++;
    else if (text.charAt(at) === '`') return at + 1;
    else if (text.startsWith('${', at)) return at + 2;
  }
  return text.length;
}

function quoteEnd(text: string, start: number, quote: string): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text.charAt(at) === '\\') at++;
    else if (text.charAt(at) === quote || text.charAt(at) === '\n') return at + 1;
  }
  return text.length;
}

function patternEnd(text: string, start: number): number {
  let isInClass = false;
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (character === '[') isInClass = true;
    else if (character === ']') isInClass = false;
    else if ((character === '/' && !isInClass) || character === '\n') return at + 1;
  }
  return text.length;
}

/** A slash divides when a value stands before it, and begins a pattern otherwise. */
function isPatternStart(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 40), at).trimEnd();
  return before === '' || /[=(,:;[!&|?{}+\-*%>~^]$|\b(?:return|typeof|case|in|of|do|else|void)$/.test(before);
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end < 0 ? text.length : end;
}

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + mark.length;
}
