import { confirm, isCancel, multiselect, select, text } from '@clack/prompts';

type Choice = { readonly value: string; readonly label: string; readonly hint?: string };
type Question = {
  readonly message: string;
  readonly choices: readonly Choice[];
  readonly chosen: readonly string[];
};
type Writing = {
  readonly message: string;
  readonly initial?: string;
  readonly check?: (text: string) => string | undefined;
};

const output = process.stderr;

/** Asks the person at the terminal. Standard output is for data, so questions go to standard error. */
export const terminalAsk = {
  choose: async ({ message, choices, chosen }: Question): Promise<readonly string[] | undefined> => {
    const answer = await multiselect({ message, options: [...choices], initialValues: [...chosen], output });
    return isCancel(answer) ? undefined : answer;
  },
  confirm: async (message: string): Promise<boolean | undefined> => {
    // What is asked for cannot always be taken back, so a slip of the return key is no yes.
    const answer = await confirm({ message, initialValue: false, output });
    return isCancel(answer) ? undefined : answer;
  },
  pick: async ({ message, choices }: Omit<Question, 'chosen'>): Promise<string | undefined> => {
    const answer = await select({ message, options: [...choices], output });
    return isCancel(answer) ? undefined : answer;
  },
  write: async ({ message, initial = '', check }: Writing): Promise<string | undefined> => {
    const answer = await text({ message, initialValue: initial, validate: (written = '') => check?.(written), output });
    return isCancel(answer) ? undefined : answer;
  },
};
