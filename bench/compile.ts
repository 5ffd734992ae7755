import { readdirSync, readFileSync } from 'node:fs';
import { re2Patterns } from '../src/adapters/patterns.ts';
import { nodeHasher } from '../src/adapters/system.ts';
import { compileWorkflow } from '../src/core/workflow/compile-workflow.ts';
import { templateOf } from '../src/core/workflow/expand/expanded.ts';
import { budgeted, type Row, timed } from './row.ts';

const FILES = 1_000;
const BUDGET_MS = 2_000;

/** Compiles 1,000 files: the fixtures of the compiler's tests, again and again, as if each were new. */
export async function benchCompile(): Promise<readonly Row[]> {
  const { sha256 } = nodeHasher;
  const tools = { sha256, compilePattern: re2Patterns() };
  const routines = ['workflows/routines', 'test/compiler/routines'].flatMap(textsIn).map((text) => {
    const result = compileWorkflow({ text, isBundled: true, templates: new Map(), bindings: {} }, tools);
    if (result.kind === 'refused') throw new Error('a routine does not compile');
    return templateOf(result.syntax);
  });
  const templates = new Map(routines.map((template) => [template.templateId, template]));
  const texts = textsIn('test/compiler/fixtures');
  const compile = (count: number) => {
    for (let i = 0; i < count; i++) {
      compileWorkflow({ text: texts[i % texts.length] ?? '', isBundled: true, templates, bindings: {} }, tools);
    }
  };
  compile(texts.length);
  const { wallMs } = await timed(() => compile(FILES));
  return [budgeted(`compile ${FILES} workflow files`, wallMs, { max: BUDGET_MS, unit: 'ms' })];
}

function textsIn(dir: string): readonly string[] {
  const names = readdirSync(dir).filter((name) => name.endsWith('.json') && !name.endsWith('.test.json'));
  return names.map((name) => readFileSync(`${dir}/${name}`, 'utf8'));
}
