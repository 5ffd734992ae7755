import { defined } from '../../core/json/json-value.ts';
import type { WorkspaceProblem } from '../../core/prompt/reply-warnings.ts';
import type { CompileResult } from '../../core/workflow/compile-workflow.ts';
import type { SourceListing, WorkflowFile, WorkflowSource } from '../ports/workflow-sources.ts';
import { type AssembledCatalog, assembleCatalog, type CatalogTools, type Surroundings } from './assemble-catalog.ts';
import type { Catalog, FoundWorkflow } from './catalog.ts';
import { chooseFiles } from './choose-files.ts';
import { type FileClaim, fileClaim } from './file-claim.ts';
import { unreadDiagnostic } from './file-diagnostics.ts';
import { readBindings } from './read-bindings.ts';
import { routinesOf, usableTemplates } from './routines.ts';

const WORKSPACES_MAX = 8;

export type WorkflowCatalog = {
  /** Every workflow, and every file that is invalid. */
  list(workspace?: string): Promise<Catalog>;
  /** What an id refers to. This is much faster than listing all. */
  find(id: string, workspace?: string): Promise<CatalogAnswer>;
};

/** `workspaceProblem`: why the given workspace was not read. */
export type CatalogAnswer = { readonly found: FoundWorkflow; readonly workspaceProblem?: WorkspaceProblem };

/** Compiles the files of a source. Files that did not change are not compiled again. */
export function workflowCatalog(source: WorkflowSource, tools: CatalogTools): WorkflowCatalog {
  const built = new Map<string | undefined, Built>();
  const current = async (workspace: string | undefined) => {
    const listing = await source.files(workspace);
    const now = buildCatalog(listing, tools, built.get(workspace));
    built.delete(workspace);
    built.set(workspace, now);
    const oldest = built.keys().next();
    if (built.size > WORKSPACES_MAX && oldest.done !== true) built.delete(oldest.value);
    return now;
  };
  return {
    list: async (workspace) => {
      const { catalog, listing, resultOf } = await current(workspace);
      const { yieldNow } = tools;
      for (const file of yieldNow === undefined ? [] : listing.files) {
        await yieldNow?.();
        resultOf(file);
      }
      return catalog();
    },
    find: async (id, workspace) => {
      const { find, listing } = await current(workspace);
      const { workspaceProblem } = listing;
      return { found: find(id), ...defined({ workspaceProblem }) };
    },
  };
}

/** A catalog with its inputs, which the next one reuses. */
type Built = AssembledCatalog & {
  /** The compiled file, cached. */
  readonly resultOf: (file: WorkflowFile) => CompileResult;
  readonly listing: SourceListing;
  readonly claims: ReadonlyMap<WorkflowFile, FileClaim | undefined>;
  readonly surroundings: Surroundings;
  /** The files compiled so far. */
  readonly results: Map<WorkflowFile, CompileResult>;
};

function buildCatalog(listing: SourceListing, tools: CatalogTools, before: Built | undefined): Built {
  if (before !== undefined && isSameListing(listing, before.listing)) return before;
  const claims = new Map(
    listing.files.map((file) => [file, before?.claims.has(file) ? before.claims.get(file) : fileClaim(file)]),
  );
  const choice = chooseFiles([...claims.values()].filter((claim) => claim !== undefined));
  const around = { routines: routinesOf(claims, choice), bindingsFile: listing.bindings };
  const surroundings = surroundingsOf(around, tools, before?.surroundings);
  const results = new Map(surroundings.routineResults);
  if (before !== undefined && surroundings === before.surroundings) {
    for (const file of listing.files) {
      const result = before.results.get(file);
      if (result !== undefined) results.set(file, result);
    }
  }
  const resultOf = (file: WorkflowFile) => {
    const result = results.get(file) ?? compileFile(file, surroundings, tools);
    results.set(file, result);
    return result;
  };
  const assembled = assembleCatalog(listing, { claims, choice, surroundings, resultOf }, tools);
  return { ...assembled, resultOf, listing, claims, surroundings, results };
}

function isSameListing(a: SourceListing, b: SourceListing): boolean {
  const isSameProblem = JSON.stringify(a.workspaceProblem) === JSON.stringify(b.workspaceProblem);
  return isSameProblem && a.bindings === b.bindings && isSameList(a.files, b.files);
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}

function surroundingsOf(
  { routines, bindingsFile }: Pick<Surroundings, 'routines' | 'bindingsFile'>,
  tools: CatalogTools,
  before: Surroundings | undefined,
): Surroundings {
  const files = routines.map(({ file }) => file);
  const filesBefore = before?.routines.map(({ file }) => file) ?? [];
  if (before !== undefined && before.bindingsFile === bindingsFile && isSameList(files, filesBefore)) return before;
  const { bindings, diagnostics, fields } =
    bindingsFile === undefined ? { bindings: {}, diagnostics: [], fields: [] } : readBindings(bindingsFile);
  const { results, ...usable } = usableTemplates(routines, (file, templates) =>
    compileFile(file, { ...templates, bindings }, tools),
  );
  const read = { bindingsFile, bindings, bindingsDiagnostics: diagnostics, bindingsFields: fields };
  return { routines, routineResults: results, ...read, ...usable };
}

function compileFile(
  file: WorkflowFile,
  { templates, broken, bindings }: Pick<Surroundings, 'templates' | 'broken' | 'bindings'>,
  tools: CatalogTools,
): CompileResult {
  if (file.content.kind === 'unread') {
    return { kind: 'refused', diagnostics: [unreadDiagnostic(file.content.reason)] };
  }
  const { text } = file.content;
  const { isInRoutines } = file;
  return tools.compile({ text, isBundled: file.kind === 'bundled', isInRoutines, templates, broken, bindings });
}
