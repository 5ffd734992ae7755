import { lineDiff } from '../../src/core/text/line-diff.ts';
import { LINT_RULES } from '../../src/core/workflow/lint/lint-workflow.ts';
import { FIX_EXAMPLES, PLACED_FIX_EXAMPLE } from '../../test/lint/fix-examples.ts';
import { mended } from '../../test/lint/mended.ts';
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
    'Errors keep a workflow from being used. Warnings and the rules of quality below do not, unless `--strict` is given. Every finding has a file, a line and a column; `--json` gives the same as data.',
    '',
    '## Rules of quality',
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
        'Found here:',
        '',
        ...jsonBlock(failing),
        '',
        'Nothing is found here:',
        '',
        ...jsonBlock(passing),
        '',
      ];
    }),
    '## What `--fix` mends',
    '',
    'Each of these is offered only where there is one right change. Nothing else in the file is touched.',
    '',
    ...Object.entries(FIX_EXAMPLES).flatMap(([code, { words, failing }]) => {
      const text = written(failing);
      return fixSection(code, words, changedLines(text, mended(text, diagnosticsOf)));
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
