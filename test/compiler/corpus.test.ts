import { describe, expect, it } from 'vitest';
import { parseCompiledWorkflow } from '../../src/core/workflow/compiled/compiled-workflow.ts';
import { enforces } from '../enforces.ts';
import { CORPUS, CORPUS_FOLDER, compiled, compileText, found } from './compile-file.ts';

const LEGACY = 'warning legacy_id /id';

/** Every warning that a public file gets. Each is deserved: no namespace, loops by context alone, calculated values, a decision outside of a loop, arguments that are not declared. */
const WARNINGS: { readonly [file: string]: readonly string[] } = {
  'ideation.json': [1, 4].map((step) => `warning argument_undeclared /steps/${step}/prompt`),
  'routine-injection-example.json': [LEGACY],
  'simple-batch.json': [
    LEGACY,
    ...['/steps/2/prompt', '/steps/3/guidance/3'].map((at) => `warning place_unsupported ${at}`),
  ],
  'simple-polling.json': [LEGACY, 'warning context_loop /steps/1'],
  'simple-retry.json': [LEGACY],
  'simple-search.json': [LEGACY, 'warning context_loop /steps/1'],
  'test-artifact-loop-control.json': [LEGACY, 'warning loop_control_misplaced /steps/0/outputContract/contractRef'],
};

if (CORPUS.length === 0) console.warn(`No public workflow files in ${CORPUS_FOLDER}: nothing is compiled from there.`);

describe.runIf(CORPUS.length > 0)('public workflow files', () => {
  it('are all there', () => {
    expect(CORPUS.length).toBeGreaterThanOrEqual(14);
    const names = CORPUS.map(({ name }) => name);
    expect(Object.keys(WARNINGS).filter((name) => !names.includes(name))).toEqual([]);
  });

  it.each(CORPUS)('$name compiles unchanged, with just the warnings it deserves', ({ name, text }) => {
    enforces('legacy_id_runs_with_warning', 'both_spellings_one_model');
    const result = compileText(text);
    expect(found(result)).toEqual(WARNINGS[name] ?? []);
    expect(parseCompiledWorkflow(compiled(result))._unsafeUnwrap()).toEqual(compiled(result));
  });
});
