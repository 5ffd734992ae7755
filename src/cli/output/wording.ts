/** Commands in a text as a person has to type them here, also where no shell knows the program by its name. */
export function asTyped(text: string, { calledAs }: { readonly calledAs: () => string }): string {
  return text.replace(/(?<=^|[\s"`])workrail(?= (?:[a-z]|--\w))/g, () => calledAs());
}
