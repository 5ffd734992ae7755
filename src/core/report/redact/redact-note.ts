import { blocksSource } from '../markdown/note-markdown.ts';
import { parseNote } from '../note/parse-note.ts';
import { findSecrets, type KnownFolders } from './find-secrets.ts';
import { hider } from './hider.ts';
import { readNote, rewriteNote } from './note-text.ts';
import type { SecretKind } from './secret-kinds.ts';

/**
 * A note with its secrets hidden. It is looked at as a reader sees it, without escapes and marks, and then written
 * anew. A note without secrets stays as it was written.
 */
export function redactNote(markdown: string, folders: KnownFolders, onHidden: (kind: SecretKind) => void): string {
  const blocks = parseNote(markdown);
  const { body, extras, known } = readNote(blocks);
  const secrets = findSecrets(`${body}${extras}`, folders, known);
  // Targets of links that lead nowhere are in no block; writing the note anew leaves them out.
  const dropped = secrets.length > 0 ? [] : findSecrets(markdown, folders);
  if (secrets.length + dropped.length === 0) return markdown;
  for (const { kind } of dropped) onHidden(kind);
  const rewritten = rewriteNote(blocks, {
    inBody: hider(secrets, 0, onHidden),
    inExtras: hider(secrets, body.length, onHidden),
  });
  return blocksSource(rewritten);
}
