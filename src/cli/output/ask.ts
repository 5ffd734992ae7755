/** One of several that a person may choose. */
export type AskChoice = { readonly value: string; readonly label: string; readonly hint?: string };

/** Asks a person at a terminal, on standard error. Every answer is `undefined` when the person broke off. */
export type Ask = {
  readonly choose: (question: {
    readonly message: string;
    readonly choices: readonly AskChoice[];
    readonly chosen: readonly string[];
  }) => Promise<readonly string[] | undefined>;
  readonly confirm: (message: string) => Promise<boolean | undefined>;
  /** One of several. */
  readonly pick: (question: {
    readonly message: string;
    readonly choices: readonly AskChoice[];
  }) => Promise<string | undefined>;
  /** A line of text; what is there already can be changed. */
  readonly write: (question: {
    readonly message: string;
    readonly initial?: string;
    /** What is wrong with a text; it is asked for again. */
    readonly check?: (text: string) => string | undefined;
  }) => Promise<string | undefined>;
};
