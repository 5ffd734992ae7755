import { WORKFLOW_ENTRIES_MAX } from '../../log/budgets.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';

/** What expansion has made so far. Templates that call templates multiply, so each of these has an end. */
export type ExpansionSize = { steps: number; calls: number; texts: number; characters: number };

/** More than honest use will ever need. */
const MADE_MAX: { readonly [kind in keyof ExpansionSize]: number } = {
  steps: WORKFLOW_ENTRIES_MAX,
  calls: 1000,
  texts: 300_000,
  characters: 4_194_304,
};

export const EMPTY_EXPANSION: Readonly<ExpansionSize> = { steps: 0, calls: 0, texts: 0, characters: 0 };

/** Adds to what was made. What is one too many is reported, what comes after it need not be. */
export function countExpansion(
  made: ExpansionSize,
  { kind, amount }: { readonly kind: keyof ExpansionSize; readonly amount: number },
  { at, findings }: { readonly at: string; readonly findings: CompilerFinding[] },
): void {
  const isFirst = made[kind] <= MADE_MAX[kind];
  made[kind] += amount;
  if (isFirst && made[kind] > MADE_MAX[kind]) findings.push({ severity: 'error', at, ...tooMuch(kind) });
}

/** Whether nothing more is to be made: the workflow is refused already. */
export function isOverBudget({ steps, calls, texts, characters }: ExpansionSize): boolean {
  return steps > MADE_MAX.steps || calls > MADE_MAX.calls || texts > MADE_MAX.texts || characters > MADE_MAX.characters;
}

function tooMuch(kind: keyof ExpansionSize): Pick<CompilerFinding, 'code' | 'message'> {
  const max = MADE_MAX[kind];
  switch (kind) {
    case 'steps':
    case 'calls': {
      const what = kind === 'steps' ? 'steps and loops' : 'calls';
      const message = `With this the workflow has more than ${max} ${what}, those of its templates included. ${SPLIT}`;
      return { code: 'too_many_steps', message };
    }
    case 'texts':
      return { code: 'too_many_values', message: `With this call the templates bring more than ${max} texts in all.` };
    case 'characters': {
      const message = `With this call more than ${max} characters are put into templates in all. Call fewer, or with shorter arguments.`;
      return { code: 'text_too_long', message };
    }
  }
}

/** What to do about a workflow that is too long. */
export const SPLIT = 'Split it into several workflows.';
