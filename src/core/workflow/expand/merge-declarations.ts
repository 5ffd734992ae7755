import { CAPABILITIES, type Capability } from '../../log/blockers.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import type { FeatureUse, ReferenceSyntax, WorkflowSyntax } from '../format/workflow-fields.ts';
import type { Brought, BroughtDeclarations, ExpandedEntry } from './expanded.ts';

/** What the author of the file did not write says which template it is from. */
export type Originated<Declaration> = Declaration & { readonly originId?: string };

type Need = NonNullable<WorkflowSyntax['capabilities'][Capability]>;
export type Needs = {
  readonly [capability in Capability]?: Originated<{ readonly need: Need; readonly at: string }>;
};

/** What a workflow and the templates it calls declare for the whole run. */
export type MergedDeclarations = {
  readonly needs: Needs;
  /** The workflow's own come first: their settings count. */
  readonly features: readonly Originated<FeatureUse>[];
  readonly metaGuidance: readonly Originated<{ readonly text: string }>[];
  readonly references: readonly Originated<ReferenceSyntax>[];
};

/** A workflow whose steps are all real: no template, parallel step or shorthand is left. */
export type ExpandedWorkflow = Omit<WorkflowSyntax, 'steps' | 'capabilities' | keyof MergedDeclarations> &
  MergedDeclarations & { readonly entries: readonly ExpandedEntry[] };

type Declared = Pick<WorkflowSyntax, 'at' | 'capabilities' | 'features' | 'metaGuidance' | 'references'>;

/** Adds what templates bring to what the workflow declares itself, each thing once. */
export function mergeDeclarations(
  syntax: Declared,
  { declarations }: Brought,
  findings: CompilerFinding[],
): MergedDeclarations {
  const features = declarations.flatMap((one) => one.features.map((use) => ({ ...use, originId: one.originId })));
  const rules = declarations.flatMap((one) => one.metaGuidance.map((text) => ({ text, originId: one.originId })));
  const references = declarations.flatMap((one) => one.references.map((ref) => ({ ...ref, originId: one.originId })));
  return {
    needs: mergeNeeds(syntax, declarations, findings),
    features: [...syntax.features, ...features],
    metaGuidance: addNew<Originated<{ text: string }>>(
      syntax.metaGuidance.map((text) => ({ text })),
      rules,
      ({ text }) => text,
    ),
    references: addNew<Originated<ReferenceSyntax>>(syntax.references, references, sameDocument),
  };
}

/** Appends what is not there yet. What the author wrote twice stays. */
function addNew<Item>(own: readonly Item[], added: readonly Item[], keyOf: (item: Item) => string): readonly Item[] {
  const known = new Set(own.map(keyOf));
  const isNew = (item: Item) => {
    const key = keyOf(item);
    if (known.has(key)) return false;
    known.add(key);
    return true;
  };
  return [...own, ...added.filter(isNew)];
}

/** Two references to one document, under whatever id, are one. */
function sameDocument({ at: _, id: _id, originId: _origin, ...reference }: Originated<ReferenceSyntax>): string {
  return Object.values(reference).join('\u0000');
}

function mergeNeeds(
  { at, capabilities }: Declared,
  declarations: readonly BroughtDeclarations[],
  findings: CompilerFinding[],
): Needs {
  const needs: { -readonly [capability in Capability]?: Needs[capability] } = {};
  for (const capability of CAPABILITIES) {
    const own = capabilities[capability];
    if (own !== undefined) needs[capability] = { need: own, at: `${at}/capabilities/${capability}` };
    for (const { originId, at: calledAt, capabilities: wanted } of declarations) {
      const need = wanted[capability];
      const before = needs[capability];
      // A mere preference gives way to whatever somebody else insists on.
      if (need === undefined || need === before?.need || (before !== undefined && need === 'preferred')) continue;
      if (before !== undefined && before.need !== 'preferred') {
        const message = `Here ${capability} is "${before.need}", but the template "${originId}" has it as "${need}". Change one of them, or do without the call.`;
        findings.push({ code: 'template_conflict', severity: 'error', at: calledAt, message });
      } else needs[capability] = { need, at: calledAt, originId };
    }
  }
  return needs;
}
