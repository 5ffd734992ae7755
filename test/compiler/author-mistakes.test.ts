import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { re2Patterns } from '../../src/adapters/patterns.ts';
import { applyFixes, type Diagnostic, sourcePosition } from '../../src/core/workflow/diagnostics/diagnostic.ts';
import { lintWorkflow } from '../../src/core/workflow/lint/lint-workflow.ts';
import { enforces } from '../enforces.ts';
import { isLong, share } from '../volume.ts';
import { OPERATORS } from './author-mistakes.ts';
import { BUNDLED, compileText, FIXTURES, found, routine, type SourceFile, templatesOf } from './compile-file.ts';
import type { Json } from './json-leaves.ts';
import type { Mistake } from './mistakes/mistake.ts';

type HandWritten = {
  readonly file: readonly string[];
  readonly routine: object;
  readonly mistakes: readonly { from: string; to: string; line: number; says: string }[];
};
const HAND_WRITTEN = JSON.parse(
  readFileSync(new URL('mistakes/hand-written.json', import.meta.url), 'utf8'),
) as HandWritten;

const FILES = [...BUNDLED, ...FIXTURES];
/** Of the library, which is large, every fourth file in turn unless there is time for all. */
const filesFor = (turn: number) => [...FIXTURES, ...share(BUNDLED, { from: turn })];
/** So few cases of a mistake are always tried. */
const FEW = 8;
const parse = (text: string) => JSON.parse(text) as Json;
const compile = ({ isBundled = false }: Pick<SourceFile, 'isBundled'>, text: string) =>
  compileText(text, { isBundled });

type Score = { cases: number; rejected: number; code: number; pointer: number; fix: number; fixable: number };

describe('the mistakes of authors', () => {
  it('the mistakes of authors are reported with their code and place, and with a fix where there is one', () => {
    enforces('author_error_offers_fix', 'unknown_key_is_warning', 'loop_requires_max_iterations', 'loop_types_closed');
    enforces(
      'loop_static_excess_is_compile_error',
      'loop_ids_unique',
      'condition_one_operator',
      'step_prompt_xor_blocks',
    );
    enforces(
      'template_args_substituted',
      'contracts_workrail_owned',
      'refs_placement',
      'user_choice_needs_choice_kind',
    );
    enforces(
      'user_dependency_context_key_safe',
      'function_reference_form',
      'workflow_id_format',
      'workflow_needs_a_step',
    );
    const scores = new Map<string, Score>();
    const missed: string[] = [];
    for (const [turn, { name, mistakes }] of OPERATORS.entries()) {
      const score: Score = { cases: 0, rejected: 0, code: 0, pointer: 0, fix: 0, fixable: 0 };
      const cases = filesFor(turn).flatMap((file) =>
        [...mistakes(parse(file.text))].map((mistake) => ({ file, mistake })),
      );
      for (const { file, mistake } of cases.length <= FEW ? cases : share(cases, { every: 8, from: turn })) {
        const problem = marked(score, file, mistake);
        if (problem !== undefined) missed.push(`${name} (${file.name}): ${problem}`);
      }
      scores.set(name, score);
    }
    printed(scores);
    const total = [...scores.values()].reduce((sum, { cases }) => sum + cases, 0);
    expect(OPERATORS.length).toBeGreaterThanOrEqual(25);
    expect([...scores].filter(([, { cases }]) => cases === 0)).toEqual([]);
    expect(missed).toEqual([]);
    expect(total).toBeGreaterThan(isLong ? 1000 : 200);
  });

  it('mistakes that were thought of without looking at the compiler get a message at their line that says what to write', () => {
    enforces('author_error_offers_fix');
    const { file, routine: summary, mistakes } = HAND_WRITTEN;
    const whole = file.join('\n');
    const templates = templatesOf(routine(JSON.stringify(summary)));
    const patterns = re2Patterns();
    const saidAbout = (text: string) => {
      const result = compileText(text, { templates });
      const lints =
        result.kind === 'refused' ? [] : lintWorkflow(text, { kind: 'workflow', workflow: result.workflow }, patterns);
      const located = result.diagnostics.map(({ message, span }) => ({ message, ...sourcePosition(text, span) }));
      return [...located, ...lints].filter(({ message }) => !message.startsWith('The workflow has no'));
    };
    expect(saidAbout(whole)).toEqual([]);
    expect(mistakes.length).toBeGreaterThanOrEqual(60);
    const missed = mistakes.filter(({ from, to, line, says }) => {
      const text = whole.replace(from, () => to);
      return text === whole || !saidAbout(text).some((one) => one.line === line && one.message.includes(says));
    });
    expect(missed).toEqual([]);
  });

  it.each(FILES)('$name itself is accepted, and so is a file that says which schema it follows', (file) => {
    const plain = compile(file, file.text);
    expect(plain.kind).toBe('compiled');
    const annotated = { $schema: 'workflow.schema.json', $comment: 'ours', ...(parse(file.text) as object) };
    const result = compile(file, JSON.stringify(annotated));
    expect(found(result)).toEqual(found(plain));
  });

  it('the mistakes of authors are shown at their line and column', () => {
    const text = '{\n  "id": "test.place",\n  "name": "Place",\n  "description": 4,\n  "steps": []\n}';
    const places = compileText(text).diagnostics.map(({ code, span }) => ({
      code,
      ...sourcePosition(text, span),
    }));
    expect(places).toEqual([
      { code: 'wrong_type', line: 4, column: 18 },
      { code: 'wrong_value', line: 5, column: 12 },
    ]);
  });
});

/** Compares what is reported with what should be; the difference in words. */
function marked(
  score: Score,
  file: SourceFile,
  { text, code, pointer, isWarning, hasFix }: Mistake,
): string | undefined {
  const result = compile(file, text);
  score.cases += 1;
  if (result.diagnostics.some((one) => one.code === code)) score.code += 1;
  const reported = result.diagnostics.find((one) => one.code === code && one.pointer === pointer);
  if (reported === undefined) return `${code} ${pointer} is not among ${found(result).join(', ')}`;
  if (!isAtPointer(reported, text)) return `${code} ${pointer} stands elsewhere`;
  score.pointer += 1;
  const isRejected =
    isWarning === true ? reported.severity === 'warning' : result.kind === 'refused' && reported.severity === 'error';
  if (isRejected) score.rejected += 1;
  if (hasFix === true) score.fixable += 1;
  if (hasFix === true && isFixed(reported, file, text)) score.fix += 1;
  else if (hasFix === true) return `${code} ${pointer} is not fixed by ${JSON.stringify(reported.fix)}`;
  return isRejected ? undefined : `${reported.severity} ${code}, ${result.kind}`;
}

/** Whether the text that is marked is the value of the pointer, or its key. */
function isAtPointer({ code, pointer, span }: Diagnostic, text: string): boolean {
  if (code === 'not_json') return span.offset <= text.length;
  const written = JSON.parse(text.slice(span.offset, span.offset + span.length)) as Json;
  const path = pointer.split('/').slice(1);
  const value = path.reduce<Json>((at, key) => (at as { [key: string]: Json })[key] ?? null, parse(text));
  return written === path.at(-1) || JSON.stringify(written) === JSON.stringify(value);
}

function isFixed(reported: Diagnostic, file: SourceFile, text: string): boolean {
  const fixed = compile(file, applyFixes(text, [reported]).text);
  return !fixed.diagnostics.some((one) => one.code === reported.code && one.pointer === reported.pointer);
}

function printed(scores: ReadonlyMap<string, Score>): void {
  const rows = [...scores].map(([name, { cases, rejected, code, pointer, fix, fixable }]) =>
    [name.padEnd(52), ...[cases, rejected, code, pointer].map((n) => String(n).padStart(6)), `${fix}/${fixable}`].join(
      ' ',
    ),
  );
  const head = `${'mistake'.padEnd(52)}  cases severity  code pointer  fix`;
  console.info([head, ...rows].join('\n'));
}
