import { fileURLToPath } from 'node:url';

/** The folder that an address names on this machine; Node throws at any that names none. */
export function folderOf(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || !URL.canParse(uri)) return undefined;
  const url = new URL(uri);
  const isHere = url.protocol === 'file:' && url.hostname === '' && !/%2f|%5c/i.test(url.pathname);
  return isHere ? fileURLToPath(url) : undefined;
}
