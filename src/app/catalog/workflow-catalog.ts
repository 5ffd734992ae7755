import type { Sha256 } from '../../core/json/canonical-bytes.ts';
import type { WorkspaceProblem } from '../../core/prompt/reply-warnings.ts';
import type { CompileInput, CompileResult } from '../../core/workflow/compile-workflow.ts';
import type { Diagnostic } from '../../core/workflow/diagnostics/diagnostic.ts';
import type { Bindings } from '../../core/workflow/expand/expanded.ts';
import type { SourceFile, SourceListing, WorkflowFile, WorkflowSource } from '../ports/workflow-sources.ts';
import { assembleCatalog } from './assemble-catalog.ts';
import type { Catalog, FoundWorkflow } from './catalog.ts';
import { chooseFiles } from './choose-files.ts';
import { type FileClaim, fileClaim } from './file-claim.ts';
import { unreadDiagnostic } from './file-diagnostics.ts';
import { readBindings } from './read-bindings.ts';
import { type Routine, routinesOf, type Templates, usableTemplates } from './routines.ts';

const WORKSPACES_MAX = 8;

export type WorkflowCatalog = {
  /** Everything that can be started, and everything that cannot. */
  list(workspace?: string): Promise<Catalog>;
  /** What an id stands for. Looking for one workflow takes far less than listing all, where there are many. */
  find(id: string, workspace?: string): Promise<CatalogAnswer>;
};

/** `workspaceProblem` is why the workspace that was asked for was not looked at. */
export type CatalogAnswer = { readonly found: FoundWorkflow; readonly workspaceProblem?: WorkspaceProblem };

/** Compiles what the source has. What did not change since the last look at a workspace is not looked at again. */
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
      const { breathe } = tools;
      for (const file of breathe === undefined ? [] : listing.files) {
        await breathe?.();
        resultOf(file);
      }
      return catalog();
    },
    find: async (id, workspace) => {
      const { find, listing } = await current(workspace);
      const { workspaceProblem } = listing;
      return { found: find(id), ...(workspaceProblem === undefined ? {} : { workspaceProblem }) };
    },
  };
}

export type CatalogTools = {
  readonly compile: (input: CompileInput) => CompileResult;
  readonly sha256: Sha256;
  /** Awaited between files when all are compiled, where a person waits who may break it off. */
  readonly breathe?: () => Promise<void>;
  /** Ids that bundled workflows used to have, with the ids they have now. */
  readonly aliases: ReadonlyMap<string, string>;
};

/** A catalog with what it was made from, so that the next one need not start from nothing. */
export type Built = {
  /** Everything there is, for which every file is compiled. */
  readonly catalog: () => Catalog;
  /** What an id stands for. One file of many is all that is compiled for it. */
  readonly find: (id: string) => FoundWorkflow;
  /** What a file compiles to, kept for whoever asks next. */
  readonly resultOf: (file: WorkflowFile) => CompileResult;
  readonly listing: SourceListing;
  readonly claims: ReadonlyMap<WorkflowFile, FileClaim | undefined>;
  readonly surroundings: Surroundings;
  /** What files compile to, as far as anybody asked. */
  readonly results: Map<WorkflowFile, CompileResult>;
};

/** What the meaning of a file depends on besides itself. */
export type Surroundings = Templates & {
  readonly routines: readonly Routine[];
  readonly routineResults: ReadonlyMap<WorkflowFile, CompileResult>;
  readonly bindingsFile: SourceFile | undefined;
  readonly bindings: Bindings;
  readonly bindingsDiagnostics: readonly Diagnostic[];
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
  const { bindings, diagnostics } =
    bindingsFile === undefined ? { bindings: {}, diagnostics: [] } : readBindings(bindingsFile);
  const { results, ...usable } = usableTemplates(routines, (file, templates) =>
    compileFile(file, { ...templates, bindings }, tools),
  );
  return { routines, routineResults: results, bindingsFile, bindings, bindingsDiagnostics: diagnostics, ...usable };
}

function compileFile(
  file: WorkflowFile,
  { templates, broken, bindings }: Pick<Surroundings, 'templates' | 'broken' | 'bindings'>,
  tools: CatalogTools,
): CompileResult {
  if (file.content.kind === 'unread') {
    return { kind: 'refused', diagnostics: [unreadDiagnostic(file.content.reason)] };
  }
  return tools.compile({ text: file.content.text, isBundled: file.kind === 'bundled', templates, broken, bindings });
}
