import type { Secret } from './find-secrets.ts';
import { hiddenMarker, type SecretKind } from './secret-kinds.ts';

/** Takes a text piece by piece and gives it back with its secrets hidden. */
export type Hider = { readonly take: (piece: string) => string; readonly passOver: (length: number) => void };

/** Begins at a place in the text that the secrets were found in. */
export function hider(secrets: readonly Secret[], start: number, onHidden: (kind: SecretKind) => void): Hider {
  let at = start;
  let next = secrets.findIndex(({ to }) => to > start);
  if (next < 0) next = secrets.length;
  let shown = -1;
  const take = (piece: string): string => {
    const [from, end] = [at, at + piece.length];
    at = end;
    const parts: string[] = [];
    let done = from;
    for (let secret = secrets[next]; secret !== undefined && secret.from < end; secret = secrets[next]) {
      if (secret.to > done) {
        parts.push(piece.slice(done - from, Math.max(secret.from, done) - from));
        // One that goes on over several pieces is shown in the first.
        if (shown !== next) {
          parts.push(hiddenMarker(secret.kind));
          onHidden(secret.kind);
          shown = next;
        }
        done = Math.min(secret.to, end);
      }
      if (secret.to > end) break;
      next += 1;
    }
    parts.push(piece.slice(done - from));
    return parts.join('');
  };
  const passOver = (length: number) => {
    at += length;
  };
  return { take, passOver };
}
