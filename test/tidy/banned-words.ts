import type { Finding } from './rule.ts';
import { lineAt } from './source-file.ts';

/** Words that plain English replaces, with what to write instead. */
const BANNED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:un)?mend(?:s|ed|ing|able)?\b/i, 'fix, correct'],
  [/\bwhoever\b/i, 'the caller, anyone who, a user who'],
  [/\bshall\b/i, 'must, should, will'],
  [/\banew\b/i, 'again'],
  [/\bbe it\b/i, 'or, also'],
  [/\b(?:is|are) told\b/i, 'is shown, is reported, sees'],
  [/\bas told above\b/i, 'see above'],
  [/\b(?:put|puts|set|sets) (?:it |them |this |that )?right\b/i, 'fix, correct'],
  [/\bsitting\b/i, 'session'],
];

/** Fields of `--json` that are published and keep their names. */
const PUBLISHED =
  /^(?:src\/cli\/(?:author\/workflow-check|clients\/doctor)\.ts|src\/core\/wire\/machine-shapes\.ts|console\/settings\/machine\.tsx|schemas\/cli-(?:workflow-check|doctor)\.schema\.json) (?:mended|mendable)$/;

/** Titles of tests: the first argument of `it`, `test` and `describe`. */
const TITLE = /\b(?:it|test|describe)(?:\.\w+(?:\([^)]*\))?)*\(\s*(['"`])((?:(?!\1).)*)\1/g;

/** Every banned word in a file. In tests only titles count: test data may quote anything. */
export function bannedWords({ path, text }: { readonly path: string; readonly text: string }): readonly Finding[] {
  const parts = /\.(?:test|contract)\.ts$/.test(path)
    ? [...text.matchAll(TITLE)].map((match) => ({ start: match.index, part: match[2] ?? '' }))
    : [{ start: 0, part: text }];
  return parts.flatMap(({ start, part }) =>
    BANNED.flatMap(([pattern, instead]) =>
      [...part.matchAll(new RegExp(pattern, 'gi'))]
        .filter(([word]) => !PUBLISHED.test(`${path} ${word}`))
        .map((match) => ({
          path,
          line: lineAt(text, start + (parts.length === 1 ? match.index : 0)),
          message: `"${match[0]}": write ${instead}`,
        })),
    ),
  );
}
