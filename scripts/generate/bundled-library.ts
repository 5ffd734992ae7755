import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { re2Patterns } from '../../src/adapters/patterns.ts';
import { nodeHasher } from '../../src/adapters/system.ts';
import { SESSION_NOTES } from '../../src/core/workflow/builtins/builtin-workflows.ts';
import { contractData } from '../../src/core/workflow/builtins/contract.ts';
import { contracts } from '../../src/core/workflow/builtins/contracts.ts';
import { type CompileResult, compileWorkflow } from '../../src/core/workflow/compile-workflow.ts';
import { sealWorkflow } from '../../src/core/workflow/compiled/sealed-workflow.ts';
import { templateOf } from '../../src/core/workflow/expand/expanded.ts';
import { syntaxIn } from '../../src/core/workflow/format/read-workflow.ts';

type Compile = (text: string, isBundled: boolean) => CompileResult;
type Listed = Extract<CompileResult, { kind: 'compiled' }>;

/** The compiler with the bundled routines at hand. */
export function compilerOver(root: string): Compile {
  const templates = textsIn(join(root, 'workflows', 'routines')).flatMap((text) => {
    const syntax = syntaxIn(text);
    return syntax === undefined ? [] : [templateOf(syntax)];
  });
  const byId = new Map(templates.map((template) => [template.templateId, template]));
  const tools = { sha256: nodeHasher.sha256, compilePattern: re2Patterns() };
  return (text, isBundled) => compileWorkflow({ text, isBundled, templates: byId, bindings: {} }, tools);
}

/** The bundled workflows, and the routines that they call. */
export function bundledLibrary(root: string): {
  readonly workflows: readonly Listed[];
  readonly routines: readonly Listed[];
} {
  const compile = compilerOver(root);
  const listed = (folder: string) =>
    textsIn(folder).map((text) => {
      const result = compile(text, true);
      if (result.kind !== 'compiled') throw new Error(`a bundled workflow does not compile: ${text.slice(0, 60)}`);
      return result;
    });
  return {
    workflows: listed(join(root, 'workflows')),
    routines: listed(join(root, 'workflows', 'routines')),
  };
}

/** The data form of every contract, as a module of the program. */
export function contractDataModule(): string {
  const lines = contracts.all.map((contract) => {
    const text = JSON.stringify(contractData(contract)).replaceAll('\\', '\\\\').replaceAll("'", "\\'");
    return `  ${contract.artifactKind.replace('wr.', '')}:\n    '${text}',`;
  });
  return [
    '/** Generated from the schemas of the contracts by `npm run generate`; do not edit. Shape and guidance, as JSON. */',
    'export const CONTRACT_DATA: { readonly [name: string]: string | undefined } = {',
    ...lines,
    '};',
    '',
  ].join('\n');
}

/** The hashes of everything that comes with the program, as a module of the program. */
export function bundledHashes(root: string): string {
  const { workflows, routines } = bundledLibrary(root);
  const compiled = [SESSION_NOTES, ...[...workflows, ...routines].map(({ workflow }) => workflow)];
  const lines = compiled.map((one) => `  '${sealWorkflow(one, nodeHasher.sha256).hash}',`);
  return [
    '/** Generated from `workflows/` by `npm run generate`; do not edit. The hashes of everything that comes with WorkRail. */',
    'export const BUNDLED_HASHES: ReadonlySet<string> = new Set([',
    ...[...new Set(lines)].sort(),
    ']);',
    '',
  ].join('\n');
}

function textsIn(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json') && !name.endsWith('.test.json'));
  return names.sort().map((name) => readFileSync(join(folder, name), 'utf8'));
}
