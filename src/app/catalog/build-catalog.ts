import { assert } from '../../core/assert.ts';
import type { Sha256 } from '../../core/json/canonical-bytes.ts';
import type { CompileInput, CompileResult } from '../../core/workflow/compile-workflow.ts';
import type { Diagnostic } from '../../core/workflow/diagnostic.ts';
import type { Bindings, Template } from '../../core/workflow/expand/expanded.ts';
import type { SourceFile, SourceListing, WorkflowFile } from '../ports/workflow-source.ts';
import { type Catalog, type InvalidFile, inListOrder, type ListedWorkflow } from './catalog.ts';
import { type Choice, type ChosenFile, chooseFiles, templatesOf } from './choose-files.ts';
import { type FileClaim, fileClaim, SOURCE_NAMESPACES } from './file-claim.ts';
import { locatedIn, unreadDiagnostic } from './invalid-file.ts';
import { readBindings } from './read-bindings.ts';
import { suggestIds } from './suggest-ids.ts';
import { usedSlots } from './used-slots.ts';

export type CatalogTools = {
  readonly compile: (input: CompileInput) => CompileResult;
  readonly sha256: Sha256;
};

/** A catalog with what it was made from, so that the next one need not start from nothing. */
export type Built = {
  readonly catalog: Catalog;
  readonly listing: SourceListing;
  readonly claims: ReadonlyMap<WorkflowFile, FileClaim | undefined>;
  readonly surroundings: Surroundings;
  readonly results: ReadonlyMap<WorkflowFile, CompileResult>;
};

/** What the meaning of a file depends on besides itself. */
type Surroundings = {
  readonly routines: readonly FileClaim[];
  readonly bindingsFile: SourceFile | undefined;
  /** Those of the routines that compile on their own: a call must not bring somebody else's mistake into a run. */
  readonly templates: ReadonlyMap<string, Template>;
  readonly routineResults: ReadonlyMap<WorkflowFile, CompileResult>;
  readonly bindings: Bindings;
  readonly bindingsDiagnostics: readonly Diagnostic[];
};

export function buildCatalog(listing: SourceListing, tools: CatalogTools, before: Built | undefined): Built {
  if (before !== undefined && isSameListing(listing, before.listing)) return before;
  const claims = new Map(
    listing.files.map((file) => [file, before?.claims.has(file) ? before.claims.get(file) : fileClaim(file)]),
  );
  const claimed = [...claims.values()].filter((claim) => claim !== undefined);
  const choice = chooseFiles(claimed);
  const surroundings = surroundingsOf(choice, { bindingsFile: listing.bindings, before: before?.surroundings }, tools);
  const known = surroundings === before?.surroundings ? before.results : new Map<WorkflowFile, CompileResult>();
  const results = new Map(
    listing.files.map((file) => [
      file,
      known.get(file) ?? surroundings.routineResults.get(file) ?? compileFile(file, surroundings, tools),
    ]),
  );
  const suggested = suggestIds(claimed, tools.sha256);
  const catalog = assemble(listing, { claims, choice, surroundings, results, suggested });
  return { catalog, listing, claims, surroundings, results };
}

function isSameListing(a: SourceListing, b: SourceListing): boolean {
  return a.bindings === b.bindings && isSameList(a.files, b.files);
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}

function surroundingsOf(
  { chosen }: Choice,
  {
    bindingsFile,
    before,
  }: { readonly bindingsFile: SourceFile | undefined; readonly before: Surroundings | undefined },
  tools: CatalogTools,
): Surroundings {
  const routines = chosen.map(({ claim }) => claim).filter(({ template }) => template !== undefined);
  if (before?.bindingsFile === bindingsFile && before !== undefined && isSameList(routines, before.routines)) {
    return before;
  }
  const { bindings, diagnostics } =
    bindingsFile === undefined ? { bindings: {}, diagnostics: [] } : readBindings(bindingsFile);
  const usable = usableTemplates(chosen, bindings, tools);
  return { routines, bindingsFile, ...usable, bindings, bindingsDiagnostics: diagnostics };
}

/** Leaves out routines that do not compile, and then those that call one of these. */
function usableTemplates(
  chosen: readonly ChosenFile[],
  bindings: Bindings,
  tools: CatalogTools,
): Pick<Surroundings, 'templates' | 'routineResults'> {
  let left = chosen.filter(({ claim }) => claim.template !== undefined);
  for (;;) {
    const templates = templatesOf(left);
    const compiled = left.map((one) => ({ one, result: compileFile(one.claim.file, { templates, bindings }, tools) }));
    const sound = compiled.filter(({ result }) => result.kind === 'compiled').map(({ one }) => one);
    if (sound.length === left.length) {
      return { templates, routineResults: new Map(compiled.map(({ one, result }) => [one.claim.file, result])) };
    }
    left = sound;
  }
}

function compileFile(
  file: WorkflowFile,
  { templates, bindings }: Pick<Surroundings, 'templates' | 'bindings'>,
  tools: CatalogTools,
): CompileResult {
  if (file.content.kind === 'unread') {
    return { kind: 'refused', diagnostics: [unreadDiagnostic(file.content.reason)] };
  }
  return tools.compile({ text: file.content.text, isBundled: file.kind === 'bundled', templates, bindings });
}

type Parts = Pick<Built, 'claims' | 'surroundings' | 'results'> & {
  readonly choice: Choice;
  readonly suggested: ReadonlyMap<WorkflowFile, string>;
};

function assemble({ files, bindings }: SourceListing, parts: Parts): Catalog {
  const { choice, surroundings } = parts;
  const chosen = new Map(choice.chosen.map((one) => [one.claim.file, one]));
  const workflows = files.flatMap((file) => {
    const one = chosen.get(file);
    return one === undefined ? [] : (listed(one, parts) ?? []);
  });
  const invalid: InvalidFile[] = files.flatMap((file) => invalidFile(file, chosen.get(file), parts) ?? []);
  if (bindings !== undefined && surroundings.bindingsDiagnostics.length > 0) {
    const diagnostics = locatedIn(bindings, surroundings.bindingsDiagnostics);
    invalid.push({ file: bindings, diagnostics, shadows: [] });
  }
  return { workflows: workflows.sort(inListOrder), invalid };
}

function listed({ claim, shadows }: ChosenFile, parts: Parts): ListedWorkflow | undefined {
  const { file, kind, text } = claim;
  const result = parts.results.get(file);
  if (result?.kind !== 'compiled') return undefined;
  const { workflow, syntax, diagnostics } = result;
  assert(syntax.id === claim.id, 'a file compiles under the id that it claims');
  const { templates, bindings } = parts.surroundings;
  const suggestedId = parts.suggested.get(file);
  return {
    id: syntax.id,
    kind,
    name: syntax.name,
    description: syntax.description,
    tags: syntax.tags,
    idStatus: syntax.id.includes('.') ? 'namespaced' : 'legacy',
    ...(suggestedId === undefined ? {} : { suggestedId }),
    sourceKind: file.kind,
    file,
    shadows,
    warnings: locatedIn(file, diagnostics),
    workflow,
    origin: { text, slotIds: usedSlots(syntax, templates), bindings },
  };
}

function invalidFile(file: WorkflowFile, chosen: ChosenFile | undefined, parts: Parts): InvalidFile | undefined {
  const claim = parts.claims.get(file);
  const result = parts.results.get(file);
  const other = parts.choice.duplicates.get(file);
  const duplicate = claim !== undefined && other !== undefined ? [duplicateId(claim, other)] : [];
  if (result === undefined || (result.kind === 'compiled' && duplicate.length === 0)) return undefined;
  const diagnostics = [...duplicate, ...result.diagnostics.map((one) => withOwnNamespace(one, claim))];
  return {
    file,
    ...(claim === undefined ? {} : { id: claim.id }),
    diagnostics: locatedIn(file, diagnostics),
    shadows: chosen?.shadows ?? [],
  };
}

function duplicateId({ id, idSpan }: FileClaim, other: WorkflowFile): Diagnostic {
  const message = `${other.ref} has the id "${id}" already. Give this workflow another one, or remove the file.`;
  return { code: 'duplicate_id', severity: 'error', pointer: '/id', span: idSpan(), message };
}

/** The compiler does not know where a file lies, so it cannot tell which namespace would be its own. */
function withOwnNamespace(diagnostic: Diagnostic, claim: FileClaim | undefined): Diagnostic {
  if (diagnostic.code !== 'reserved_namespace' || claim === undefined) return diagnostic;
  const id = `${SOURCE_NAMESPACES[claim.file.kind]}.${claim.id.slice(claim.id.indexOf('.') + 1)}`;
  const edits = [{ ...claim.idSpan(), text: JSON.stringify(id) }];
  return { ...diagnostic, fix: { title: `Rename it to "${id}"`, edits } };
}
