/** The code of an error of the operating system, such as `ENOENT`; `undefined` for any other error. */
export function errorCode(cause: unknown): string | undefined {
  if (!(cause instanceof Error && 'code' in cause && typeof cause.code === 'string')) return undefined;
  // Node uses such codes for wrong arguments and the like.
  return cause.code.startsWith('ERR_') ? undefined : cause.code;
}

/** Whether the error says that a file or a folder on its path does not exist. */
export function isMissing(cause: unknown): boolean {
  const code = errorCode(cause);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The result of file access; `undefined` if the file does not exist. */
export function ifExists<Value>(access: () => Value): Value | undefined {
  try {
    return access();
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return undefined;
    throw cause;
  }
}
