/** An error as the operating system raises it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`simulated ${code}`), { code });
}
