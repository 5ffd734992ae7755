/** Replaces `workrail` in commands by what the user must type here. */
export function asTyped(text: string, { calledAs }: { readonly calledAs: () => string }): string {
  return text.replace(/(?<=^|[\s"`])workrail(?= (?:[a-z]|--\w))/g, () => calledAs());
}
