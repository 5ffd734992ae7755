import { DELIMITERS } from '../note/parse-note.ts';
import { findRandomText } from './random-text.ts';
import { SECRET_KINDS, type SecretKind } from './secret-kinds.ts';
import { isKeyLike, isNamedCell, isSecretName } from './secret-names.ts';
import { SECRET_PATTERNS } from './secret-patterns.ts';
import { stripMarkup } from './strip-markup.ts';

/** Folders whose paths are hidden wherever they occur. */
export type KnownFolders = { readonly homes: readonly string[]; readonly workspaces: readonly string[] };

/** A part of a text that is hidden. */
export type Secret = { readonly from: number; readonly to: number; readonly kind: SecretKind };

/** Everything that looks like a secret, with or without its markup, in order and without overlaps. */
export function findSecrets(text: string, folders: KnownFolders, known: readonly Secret[] = []): readonly Secret[] {
  const bare = stripMarkup(text);
  const read = bare === undefined ? [] : secretsIn(bare.text, folders).map((secret) => moved(secret, bare.placeOf));
  return merged([...known, ...secretsInTables(text), ...secretsIn(text, folders), ...read]);
}

/** Kinds that give somebody access. They rank before the others, which are only private. */
const GIVING_ACCESS: readonly SecretKind[] = [
  'private key',
  'WorkRail token',
  'access key',
  'JSON web token',
  'password',
];
const ACCESS_PATTERNS = SECRET_PATTERNS.filter(({ kind }) => GIVING_ACCESS.includes(kind));

/** Whether there is a secret that gives access. Other patterns are not tried: those of names and paths are large. */
export function hasAccessSecret(text: string): boolean {
  const bare = stripMarkup(text);
  const isIn = (part: string) => matchesIn(part, ACCESS_PATTERNS).length > 0;
  return isIn(text) || (bare !== undefined && isIn(bare.text)) || secretsInTables(text).length > 0;
}

/** The end is computed from the last character, so that markup after a secret stays. */
function moved({ from, to, kind }: Secret, placeOf: (at: number) => number): Secret {
  return { from: placeOf(from), to: placeOf(to - 1) + 1, kind };
}

const OPENING_QUOTE = /\\{0,7}["'`]/y;

function secretsIn(text: string, { homes, workspaces }: KnownFolders): Secret[] {
  const secrets = matchesIn(text, SECRET_PATTERNS);
  for (const [from, to] of findRandomText(text)) secrets.push({ from, to, kind: 'random-looking text' });
  return [
    ...secrets,
    ...workspaces.flatMap((folder) => occurrences(text, folder, 'workspace path')),
    ...homes.flatMap((folder) => occurrences(text, folder, 'home folder')),
  ];
}

function matchesIn(text: string, patterns: typeof SECRET_PATTERNS): Secret[] {
  const secrets: Secret[] = [];
  const hints = new Map<RegExp, boolean>();
  const isHinted = (hint: RegExp) => {
    const isThere = hints.get(hint) ?? hint.test(text);
    hints.set(hint, isThere);
    return isThere;
  };
  for (const { kind, pattern, hint } of patterns) {
    if (hint !== undefined && !isHinted(hint)) continue;
    for (const match of text.matchAll(pattern)) {
      const lead = match.groups?.['lead'];
      const from = match.index + (lead?.length ?? 0);
      OPENING_QUOTE.lastIndex = from;
      const quote = lead === undefined ? undefined : OPENING_QUOTE.exec(text)?.[0];
      secrets.push({ from: from + (quote?.length ?? 0), to: match.index + match[0].length, kind });
    }
  }
  return secrets;
}

/** A folder matches only as a whole: `/work/shop` does not match in `/work/shopping`. */
function occurrences(text: string, folder: string, kind: SecretKind): Secret[] {
  const name = folder.replace(/[\\/]+$/, '');
  // A drive or the root alone identifies nobody.
  if (!/[\\/][^\\/]/.test(name)) return [];
  // The name of a folder right below the root is common: `/root` must not match in `src/root`.
  const isLong = /[\\/][^\\/]+[\\/]/.test(name);
  const spellings = name.includes('\\') ? [name, name.replaceAll('\\', '\\\\'), name.replaceAll('\\', '/')] : [name];
  return spellings.flatMap((spelling) => {
    const found: Secret[] = [];
    for (let from = text.indexOf(spelling); from >= 0; from = text.indexOf(spelling, from + spelling.length)) {
      const to = from + spelling.length;
      const isMatch = isLong || !/[\w.-]/.test(text.charAt(from - 1)) || /\\[nrt]/.test(text.slice(from - 2, from));
      if (isMatch && !/[\w-]/.test(text.charAt(to))) found.push({ from, to, kind });
    }
    return found;
  });
}

/** Secrets that overlap are hidden together, under the kind that ranks first. */
function merged(secrets: Secret[]): readonly Secret[] {
  const done: Secret[] = [];
  for (const secret of secrets.sort((a, b) => a.from - b.from || b.to - a.to)) {
    const last = done.at(-1);
    if (last === undefined || secret.from >= last.to) done.push(secret);
    else {
      const kind = SECRET_KINDS.find((one) => one === last.kind || one === secret.kind) ?? last.kind;
      done[done.length - 1] = { from: last.from, to: Math.max(last.to, secret.to), kind };
    }
  }
  return done;
}

/** A cell of a table: its position in the text, and its visible text. */
export type Cell = { readonly from: number; readonly to: number; readonly text: string };

/**
 * Cells below or beside a secret name. In a table with more than two columns, a cell beside the name may contain anything,
 * so it must also look like a key.
 */
export function secretCells(rows: readonly (readonly Cell[])[]): readonly Secret[] {
  const [head = [], ...body] = rows;
  const below = head.flatMap(({ text: name }, column) => {
    if (!isSecretName(name)) return [];
    return body.flatMap((row) => {
      const cell = row[column];
      return cell !== undefined && isNamedCell(name, cell.text) ? [cell] : [];
    });
  });
  const beside = rows.flatMap(([first, ...others]) => {
    if (first === undefined || !isSecretName(first.text)) return [];
    const isPair = head.length === 2;
    return others.filter(({ text }) => (isPair ? isNamedCell(first.text, text) : isKeyLike(text)));
  });
  return [...below, ...beside].map(({ from, to }) => ({ from, to, kind: 'password' }));
}

/** The same for tables in a text that is not a note. */
function secretsInTables(text: string): readonly Secret[] {
  if (!text.includes('|') || !/\n {0,3}[|:-]/.test(text)) return [];
  const lines: Cell[][] = [];
  const tables: Cell[][][] = [];
  let isTable = false;
  let from = 0;
  for (const line of text.split('\n')) {
    const cells = line.includes('|') ? cellsOf(line, from) : [];
    const above = lines.at(-1) ?? [];
    if (cells.length === 0) isTable = false;
    else if (above.length > 0 && !isTable && DELIMITERS.test(line)) {
      isTable = true;
      tables.push([above]);
    } else if (isTable) tables.at(-1)?.push(cells);
    lines.push(cells);
    from += line.length + 1;
  }
  return tables.flatMap(secretCells);
}

/** The cells of a line, without the empty ones outside the first and the last bar. */
function cellsOf(line: string, start: number): Cell[] {
  let from = start;
  const cells = line.split('|').map((written): Cell => {
    const lead = written.length - written.trimStart().length;
    const cell = {
      from: from + lead,
      to: from + written.trimEnd().length,
      text: written.replaceAll(/[\\*_`]/g, '').trim(),
    };
    from += written.length + 1;
    return cell;
  });
  return cells.slice(line.trimStart().startsWith('|') ? 1 : 0, line.trimEnd().endsWith('|') ? -1 : undefined);
}
