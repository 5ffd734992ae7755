import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { re2Patterns } from '../../src/adapters/patterns.ts';
import { type CompileResult, compileWorkflow } from '../../src/core/workflow/compile-workflow.ts';
import type { CompiledWorkflow } from '../../src/core/workflow/compiled/compiled-workflow.ts';
import { sealWorkflow } from '../../src/core/workflow/compiled/sealed-workflow.ts';
import { type Template, templateOf } from '../../src/core/workflow/expand/expanded.ts';
import { sha256 } from '../examples/sha256.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What every call finds: the bundled routines and those beside the fixtures. */
const TEMPLATES = new Map<string, Template>();
const TOOLS = { sha256, compilePattern: re2Patterns() };

/** A workflow file as a test sees it. */
export type SourceFile = { readonly name: string; readonly text: string; readonly isBundled?: boolean };

export type Surroundings = {
  readonly isBundled?: boolean;
  readonly isInRoutines?: boolean;
  readonly templates?: ReadonlyMap<string, Template>;
  readonly bindings?: { readonly [slot: string]: string };
};

/** Compiles a text as an author would have it: with the bundled routines and without bindings. */
export function compileText(text: string, surroundings: Surroundings = {}): CompileResult {
  return compileWorkflow({ text, isBundled: false, templates: TEMPLATES, bindings: {}, ...surroundings }, TOOLS);
}

export function compileValue(value: unknown, surroundings: Surroundings = {}): CompileResult {
  return compileText(JSON.stringify(value, null, 2), surroundings);
}

/** The compiled workflow, or a failure that shows what was wrong. */
export function compiled(result: CompileResult): CompiledWorkflow {
  if (result.kind === 'compiled') return result.workflow;
  throw new Error(result.diagnostics.map(({ code, pointer, message }) => `${code} ${pointer}: ${message}`).join('\n'));
}

export function hashOf(result: CompileResult): string {
  return sealWorkflow(compiled(result), sha256).hash;
}

/** What was found, as short lines: severity, code and pointer. */
export function found({ diagnostics }: CompileResult): readonly string[] {
  return diagnostics.map(({ severity, code, pointer }) => `${severity} ${code} ${pointer}`);
}

export function routine(text: string, surroundings: Surroundings = {}): Template {
  const result = compileText(text, { templates: new Map(), ...surroundings });
  compiled(result);
  if (result.kind === 'refused') throw new Error('compiled a moment ago');
  return templateOf(result.syntax);
}

export function templatesOf(...templates: readonly Template[]): ReadonlyMap<string, Template> {
  return new Map(templates.map((template) => [template.templateId, template]));
}

for (const [id, template] of templatesOf(
  ...filesIn('workflows/routines').map(({ text }) => routine(text, { isBundled: true })),
  ...filesIn('test/compiler/routines').map(({ text }) => routine(text)),
)) {
  TEMPLATES.set(id, template);
}

/** Every workflow of our own: the bundled ones and the fixtures. */
export const BUNDLED: readonly SourceFile[] = [...filesIn('workflows'), ...filesIn('workflows/routines')].map(
  (file) => ({
    ...file,
    isBundled: true,
  }),
);
export const FIXTURES: readonly SourceFile[] = filesIn('test/compiler/fixtures');

export function fixture(name: string): string {
  return readFileSync(`${ROOT}/test/compiler/fixtures/${name}.json`, 'utf8');
}

/** Public workflow files, where they are at hand. Their ids move out of the reserved namespace. */
export const CORPUS_FOLDER = process.env['WORKRAIL_CORPUS'] ?? `${ROOT}/../shared/corpus`;
export const CORPUS: readonly SourceFile[] = existsSync(CORPUS_FOLDER)
  ? jsonFiles(CORPUS_FOLDER).map(({ name, text }) => ({ name, text: text.replace('"id": "wr.', '"id": "corpus.') }))
  : [];

function filesIn(folder: string): readonly SourceFile[] {
  return jsonFiles(`${ROOT}/${folder}`);
}

function jsonFiles(folder: string): readonly SourceFile[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json') && !name.endsWith('.test.json'))
    .sort()
    .map((name) => ({ name, text: readFileSync(`${folder}/${name}`, 'utf8') }));
}
