/** A text that prompt blocks can take in by name. It is embedded when the workflow is compiled. */
export type Ref = {
  readonly refId: string;
  /** When to use it, told to authors. */
  readonly purpose: string;
  /** Markdown, told to agents. */
  readonly text: string;
};

/** Makes the one object of a ref. Lines of a paragraph are joined, so the source may wrap where it likes. */
export function defineRef(declaration: {
  readonly name: string;
  readonly purpose: string;
  readonly text: readonly string[];
}): Ref {
  const { name, purpose, text } = declaration;
  return { refId: `wr.refs.${name}`, purpose, text: text.join('\n') };
}
