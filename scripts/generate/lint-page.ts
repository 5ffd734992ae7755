import { lineDiff } from '../../src/core/text/line-diff.ts';
import { LINT_RULES } from '../../src/core/workflow/lint/lint-workflow.ts';
import { FIX_EXAMPLES, PLACED_FIX_EXAMPLE } from '../../test/lint/fix-examples.ts';
import { fixedText } from '../../test/lint/fixed-text.ts';
import { RULE_EXAMPLES } from '../../test/lint/rule-examples.ts';
import { compilerOver } from './bundled-library.ts';
import { cell } from './markdown.ts';

/** The page that explains the rules of quality and the fixes, with examples that tests run. */
export function lintPage(root: string): string {
  const compile = compilerOver(root);
  const diagnosticsOf = (text: string) => compile(text, false).diagnostics;
  return `${[
    '# What `workrail workflow check` finds',
    '',
    'Generated from the rules and from examples that the tests run; do not edit.',
    '',
    'A workflow with errors cannot be used. Warnings and the quality rules below do not prevent that, unless you give `--strict`. Every finding has a file, a line and a column; `--json` gives the same as data.',
    '',
    '## Quality rules',
    '',
    '| Rule | Finds |',
    '|---|---|',
    ...LINT_RULES.map(({ code, finds }) => `| [\`${code}\`](#${code}) | ${cell(finds)} |`),
    '',
    ...LINT_RULES.flatMap(({ code, finds, why, hint }) => {
      const { failing, passing } = RULE_EXAMPLES[code];
      return [
        `### ${code}`,
        '',
        `Finds ${finds}. ${why}`,
        '',
        `**Instead:** ${hint}`,
        '',
        'The rule finds this:',
        '',
        ...jsonBlock(failing),
        '',
        'The rule accepts this:',
        '',
        ...jsonBlock(passing),
        '',
      ];
    }),
    '## What `--fix` changes',
    '',
    'Each fix is offered only where there is exactly one right change. Nothing else in the file changes.',
    '',
    ...Object.entries(FIX_EXAMPLES).flatMap(([code, { words, failing }]) => {
      const text = written(failing);
      return fixSection(code, words, changedLines(text, fixedText(text, diagnosticsOf)));
    }),
    ...fixSection(
      PLACED_FIX_EXAMPLE.code,
      PLACED_FIX_EXAMPLE.words,
      changedLines(written(PLACED_FIX_EXAMPLE.failing), written(PLACED_FIX_EXAMPLE.passing)),
    ),
  ].join('\n')}`;
}

function written(file: object): string {
  return JSON.stringify(file, null, 2);
}

function fixSection(code: string, words: string, lines: readonly string[]): readonly string[] {
  return [`### ${code}`, '', words, '', '```diff', ...lines, '```', ''];
}

function jsonBlock(value: object): readonly string[] {
  return ['```json', written(value), '```'];
}

/** What changed, with a line before and after it. */
function changedLines(before: string, after: string): readonly string[] {
  const lines = lineDiff(before, after);
  const isNear = (i: number) => [i - 1, i, i + 1].some((j) => lines[j] !== undefined && lines[j]?.kind !== 'same');
  const marks = { same: ' ', removed: '-', added: '+' } as const;
  return lines.flatMap(({ kind, text }, i) => (isNear(i) ? [`${marks[kind]} ${text}`] : []));
}
