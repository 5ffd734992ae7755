import { findRandomText } from './random-text.ts';
import { hiddenMarker, SECRET_KINDS, type SecretKind } from './secret-kinds.ts';
import { SECRET_PATTERNS } from './secret-patterns.ts';

/** Folders whose names are hidden wherever they appear. */
export type KnownFolders = { readonly homes: readonly string[]; readonly workspaces: readonly string[] };

/** A place in a text that is hidden. */
type Secret = { readonly from: number; readonly to: number; readonly kind: SecretKind };

/** A text with all that looks like a secret hidden, each telling its kind to the counter. */
export function redactText(text: string, folders: KnownFolders, onHidden: (kind: SecretKind) => void): string {
  const secrets = merged(findSecrets(text, folders));
  if (secrets.length === 0) return text;
  const parts: string[] = [];
  let at = 0;
  for (const { from, to, kind } of secrets) {
    parts.push(text.slice(at, from), hiddenMarker(kind));
    onHidden(kind);
    at = to;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

function findSecrets(text: string, { homes, workspaces }: KnownFolders): Secret[] {
  const secrets: Secret[] = [];
  for (const { kind, pattern } of SECRET_PATTERNS) {
    for (const match of text.matchAll(pattern)) {
      const lead = match.groups?.['lead'];
      const from = match.index + (lead?.length ?? 0);
      const isQuoted = lead !== undefined && /["'`]/.test(text.charAt(from));
      secrets.push({ from: isQuoted ? from + 1 : from, to: match.index + match[0].length, kind });
    }
  }
  for (const [from, to] of findRandomText(text)) secrets.push({ from, to, kind: 'random-looking text' });
  for (const folder of workspaces) secrets.push(...occurrences(text, folder, 'workspace path'));
  for (const folder of homes) secrets.push(...occurrences(text, folder, 'home folder'));
  return secrets;
}

/** A folder is meant only where its name ends: `/work/shop` is not in `/work/shopping`. */
function occurrences(text: string, folder: string, kind: SecretKind): Secret[] {
  const name = folder.replace(/[\\/]+$/, '');
  // A drive or the root alone says nothing about anybody.
  if (!/[\\/][^\\/]/.test(name)) return [];
  // A folder right below the root has the name of many others: `/root` is not in `src/root`.
  const isLong = /[\\/][^\\/]+[\\/]/.test(name);
  const spellings = name.includes('\\') ? [name, name.replaceAll('\\', '\\\\'), name.replaceAll('\\', '/')] : [name];
  return spellings.flatMap((spelling) => {
    const found: Secret[] = [];
    for (let from = text.indexOf(spelling); from >= 0; from = text.indexOf(spelling, from + spelling.length)) {
      const to = from + spelling.length;
      const isMeant = isLong || !/[\w.-]/.test(text.charAt(from - 1)) || /\\[nrt]/.test(text.slice(from - 2, from));
      if (isMeant && !/[\w-]/.test(text.charAt(to))) found.push({ from, to, kind });
    }
    return found;
  });
}

/** What overlaps is hidden together, under the name that ranks first. */
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
