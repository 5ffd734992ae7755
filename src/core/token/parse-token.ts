import { err, ok, type Result } from 'neverthrow';
import { runTag } from '../log/ids.ts';
import { parseCompactToken } from './compact-token.ts';
import { isJsonForm, parseJsonToken } from './json-token.ts';
import type { VerifyingKeys } from './keyring.ts';
import { unwrapped } from './normalise-token.ts';
import { TOKEN_SLOTS, type TokenClaims, type TokenKind, type TokenSlot } from './token.ts';
import { invalidFormat, type TokenRefusal } from './token-refusal.ts';

/** Twice the longest token and more: room for line breaks and quotes, and a bound on the work for anything else. */
const TOKEN_TEXT_LENGTH_MAX = 1_024;

/**
 * Reads a token of either form, whichever is minted, and checks that it may stand in this argument. A compact one is
 * forgiven its spelling; the JSON form must be exact, and one in quotes is told what is wrong with it.
 */
export function parseToken(text: string, slot: TokenSlot, keys: VerifyingKeys): Result<TokenClaims, TokenRefusal> {
  if (text.length > TOKEN_TEXT_LENGTH_MAX) {
    return err(invalidFormat({ kind: 'too_long', lengthMax: TOKEN_TEXT_LENGTH_MAX, found: text.length }));
  }
  if (!isExact(text)) return err(invalidFormat({ kind: 'wrapped' }));
  const parsed: Result<TokenClaims, TokenRefusal> = isJsonForm(text)
    ? parseJsonToken(text, keys)
    : parseCompactToken(text, keys);
  if (parsed.isErr()) return err(parsed.error);

  const claims = parsed.value;
  const expected: readonly TokenKind[] = TOKEN_SLOTS[slot];
  if (expected.includes(claims.kind)) return ok(claims);
  const tag = claims.form === 'compact' ? claims.tag : runTag(claims.runId);
  return err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch: { kind: 'slot', slot, expected, found: claims.kind, tag } });
}

function isExact(text: string): boolean {
  const bare = unwrapped(text);
  return bare === text || !isJsonForm(bare);
}
