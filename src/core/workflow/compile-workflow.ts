import { assert } from '../assert.ts';
import { canonicalBytes, type Sha256 } from '../json/canonical-bytes.ts';
import { collectDiagnostics, type Diagnostics } from './collect-diagnostics.ts';
import type { CompiledWorkflow } from './compiled/compiled-workflow.ts';
import type { Diagnostic } from './diagnostic.ts';
import { activeFeatures, withFeatureGuidance } from './emit/apply-features.ts';
import { binder } from './emit/bind-texts.ts';
import { checkCycles, checkUses } from './emit/check-references.ts';
import { emitWorkflow, functionsOf } from './emit/emit-workflow.ts';
import { expandSteps } from './expand/expand-steps.ts';
import type { Bindings, ExpandedWorkflow, Expansion, Template } from './expand/expanded.ts';
import { requiredProbes } from './expand/probes.ts';
import type { Finding } from './finding.ts';
import { locate } from './locate.ts';
import type { CompilePattern } from './pattern.ts';
import { readWorkflow } from './read/read-workflow.ts';
import { openReader } from './read/reader.ts';
import { parseSource } from './source/parse-source.ts';
import type { SourceNode } from './source/source-node.ts';
import type { WorkflowSyntax } from './syntax.ts';

export type CompileInput = {
  readonly text: string;
  /** Only the bundle may define `wr.*`. */
  readonly isBundled: boolean;
  readonly templates: ReadonlyMap<string, Template>;
  /** What the workspace puts into extension points. */
  readonly bindings: Bindings;
};

export type CompileTools = { readonly sha256: Sha256; readonly compilePattern: CompilePattern };

export type CompileResult =
  | {
      readonly kind: 'compiled';
      readonly workflow: CompiledWorkflow;
      readonly syntax: WorkflowSyntax;
      /** Warnings: the workflow can be used. */
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] };

/** From an author's file to what is pinned and run. All that is wrong with it is told at once. */
export function compileWorkflow(input: CompileInput, tools: CompileTools): CompileResult {
  const diagnostics = collectDiagnostics();
  const read = readSyntax(input, tools, diagnostics);
  if (read === undefined) return { kind: 'refused', diagnostics: diagnostics.all() };
  const workflow = emit(read.syntax, { input, tools, findings: read.findings });
  for (const finding of read.findings) locate(finding, read.root, diagnostics);
  if (diagnostics.hasErrors()) return { kind: 'refused', diagnostics: diagnostics.all() };
  const compiledWarnings = warningsToKeep(diagnostics.all());
  return {
    kind: 'compiled',
    workflow: { ...workflow, compiledWarnings },
    syntax: read.syntax,
    diagnostics: diagnostics.all(),
  };
}

type Read = { readonly syntax: WorkflowSyntax; readonly root: SourceNode; readonly findings: Finding[] };

function readSyntax(input: CompileInput, tools: CompileTools, diagnostics: Diagnostics): Read | undefined {
  const parsed = parseSource(input.text, diagnostics);
  if (parsed.isErr()) {
    diagnostics.add(parsed.error);
    return undefined;
  }
  const reader = openReader(diagnostics);
  const syntax = readWorkflow(reader, parsed.value);
  if (syntax === undefined) return undefined;
  const { findings } = reader;
  if (!input.isBundled && syntax.id.startsWith('wr.')) {
    const message = 'Ids that begin with "wr." belong to the bundled workflows. Choose a namespace of your own.';
    findings.push({ code: 'reserved_namespace', severity: 'error', at: '/id', message });
  }
  checkUses(reader.uses, syntax, { compilePattern: tools.compilePattern, findings });
  checkCycles(syntax, findings);
  return { syntax, root: parsed.value, findings };
}

type Surroundings = { readonly input: CompileInput; readonly tools: CompileTools; readonly findings: Finding[] };

/** The phases, in the one order in which they are defined. */
function emit(syntax: WorkflowSyntax, { input, tools, findings }: Surroundings): CompiledWorkflow {
  const bind = binder(syntax.extensionPoints, input.bindings, findings);
  const active = activeFeatures(syntax.features, findings);
  const brought: Expansion['brought'] = { conditions: [...syntax.conditions], assessments: [...syntax.assessments] };
  const { templates, bindings } = input;
  const expanded = expandSteps(syntax.steps, {
    templates,
    bind,
    bindings,
    findings,
    brought,
    made: { steps: 0, calls: 0 },
  });
  const entries = withFeatureGuidance([...requiredProbes(syntax), ...expanded], active);
  const { steps: _, ...declared } = syntax;
  const workflow: ExpandedWorkflow = { ...declared, ...brought, entries };
  const emission = {
    ...(syntax.agentRole === undefined ? {} : { agentRole: syntax.agentRole }),
    conditions: new Map(brought.conditions.map(({ conditionId, condition }) => [conditionId, condition])),
    assessments: new Map(brought.assessments.map((assessment) => [assessment.id, assessment])),
    functions: functionsOf(workflow, bind),
    bind,
    hashText: (text: string) => hashText(text, tools.sha256),
    contracts: new Map(),
    findings,
  };
  return emitWorkflow(workflow, emission, active);
}

function hashText(text: string, sha256: Sha256): string {
  const bytes = canonicalBytes(text);
  assert(bytes.isOk(), 'a bundled text is well-formed');
  return sha256(bytes.value);
}

type CompiledWarning = CompiledWorkflow['compiledWarnings'][number];

/** By place, not by where it stands in the text: the order of keys means nothing. */
function warningsToKeep(diagnostics: readonly Diagnostic[]): CompiledWarning[] {
  return diagnostics
    .flatMap(({ code, pointer }) => (isCompiledWarning(code) ? [{ code, subject: pointer }] : []))
    .sort((a, b) => (`${a.subject} ${a.code}` < `${b.subject} ${b.code}` ? -1 : 1));
}

function isCompiledWarning(code: string): code is CompiledWarning['code'] {
  return code === 'legacy_id' || code === 'context_loop' || code === 'schema_rule_not_enforced';
}
