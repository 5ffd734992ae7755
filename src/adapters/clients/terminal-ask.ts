import { confirm, isCancel, multiselect, password, select, text } from '@clack/prompts';
import { visibleJson } from '../../core/text/visible-text.ts';

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
// A terminal without a size reports 0, and the prompts would break their lines after every letter.
if (output.columns === 0) output.columns = 80;
/** A question may quote text that others wrote. */
const shown = visibleJson;
const shownChoice = ({ value, label, hint }: Choice) => ({
  value,
  label: shown(label),
  ...(hint === undefined ? {} : { hint: shown(hint) }),
});

/** Asks the user at the terminal. Standard output is for data, so questions go to standard error. */
export const terminalAsk = {
  choose: async ({ message, choices, chosen }: Question): Promise<readonly string[] | undefined> => {
    const answer = await multiselect({
      message: shown(message),
      options: choices.map(shownChoice),
      initialValues: [...chosen],
      output,
    });
    return isCancel(answer) ? undefined : answer;
  },
  confirm: async (message: string): Promise<boolean | undefined> => {
    // The action may be irreversible, so Enter alone does not confirm it.
    const answer = await confirm({ message: shown(message), initialValue: false, output });
    return isCancel(answer) ? undefined : answer;
  },
  pick: async ({ message, choices }: Omit<Question, 'chosen'>): Promise<string | undefined> => {
    const answer = await select({ message: shown(message), options: choices.map(shownChoice), output });
    return isCancel(answer) ? undefined : answer;
  },
  write: async ({ message, initial = '', check }: Writing): Promise<string | undefined> => {
    const answer = await text({
      message: shown(message),
      initialValue: shown(initial),
      validate: (written = '') => check?.(written),
      output,
    });
    return isCancel(answer) ? undefined : answer;
  },
  secret: async ({ message, check }: Omit<Writing, 'initial'>): Promise<string | undefined> => {
    const answer = await password({ message: shown(message), validate: (written = '') => check?.(written), output });
    return isCancel(answer) ? undefined : answer;
  },
};
