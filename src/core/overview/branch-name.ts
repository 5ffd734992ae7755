const LETTERS = 26;

/** A, B, …, Z, AA, AB, …: short enough to type. */
export function branchName(index: number): string {
  const last = String.fromCharCode('A'.charCodeAt(0) + (index % LETTERS));
  return index < LETTERS ? last : `${branchName(Math.floor(index / LETTERS) - 1)}${last}`;
}
