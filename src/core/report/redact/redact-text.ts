import { findSecrets, type KnownFolders } from './find-secrets.ts';
import { hiddenMarker, type SecretKind } from './secret-kinds.ts';

/** A text with all that looks like a secret hidden, each telling its kind to the counter. */
export function redactText(text: string, folders: KnownFolders, onHidden: (kind: SecretKind) => void): string {
  const secrets = findSecrets(text, folders);
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
