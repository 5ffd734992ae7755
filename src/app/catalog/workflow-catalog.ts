import { assert } from '../../core/assert.ts';
import type { Sha256Digest } from '../../core/json/canonical-json.ts';
import { defined } from '../../core/json/json-value.ts';
import type { WorkspaceProblem } from '../../core/prompt/warning-facts.ts';
import { sourceHash } from '../../core/workflow/drift.ts';
import type { SourceListing, WorkflowFile, WorkflowSource } from '../ports/workflow-sources.ts';
import { type AssembledCatalog, assembleCatalog, type CatalogTools, type Surroundings } from './assemble-catalog.ts';
import type { Catalog, FoundWorkflow } from './catalog.ts';
import { chooseFiles, routinesOf } from './choose-files.ts';
import type { FileCompiler } from './compile-files.ts';
import { type FileClaim, fileClaim } from './file-claim.ts';
import { type FileResult, keepResult, keptResult, unreadResult } from './file-result.ts';
import { readBindings } from './read-bindings.ts';

const WORKSPACES_MAX = 8;

export type WorkflowCatalog = {
  /** Every workflow, and every file that is invalid. */
  list(workspace?: string): Promise<Catalog>;
  /** What an id refers to. This is much faster than listing all. */
  find(id: string, workspace?: string): Promise<CatalogAnswer>;
  /** Whether an id surely still has this source, as far as that can be told without compiling anything. */
  isUnchanged(id: string, source: string | undefined, workspace?: string): Promise<boolean>;
};

/** `workspaceProblem`: why the given workspace was not read. */
export type CatalogAnswer = { readonly found: FoundWorkflow; readonly workspaceProblem?: WorkspaceProblem };

/** Compiles the files of a source. Files that did not change are not compiled again. */
export function workflowCatalog(source: WorkflowSource, tools: CatalogTools): WorkflowCatalog {
  const built = new Map<string | undefined, Built>();
  const ownHashes = new WeakMap<FileClaim, Sha256Digest>();
  const ownHash = (claim: FileClaim) => {
    const origin = { text: claim.text, routines: new Map(), slotIds: [], bindings: {} };
    const hash = ownHashes.get(claim) ?? sourceHash(origin, tools.sha256);
    ownHashes.set(claim, hash);
    return hash;
  };
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
      const { catalog, listing, resultOf, prepare } = await current(workspace);
      await prepare(listing.files);
      const { yieldNow } = tools;
      for (const file of yieldNow === undefined ? [] : listing.files) {
        await yieldNow?.();
        resultOf(file);
      }
      return catalog();
    },
    find: async (id, workspace) => {
      const { find, fileOf, listing, prepare, resultOf } = await current(workspace);
      const file = fileOf(id);
      if (file !== undefined) await prepare([file]);
      // What is not found by its id is looked for among all.
      if (file === undefined || resultOf(file).kind === 'refused') await prepare(listing.files);
      const { workspaceProblem } = listing;
      return { found: find(id), ...defined({ workspaceProblem }) };
    },
    isUnchanged: async (id, source, workspace) => {
      const { fileOf, claims, listing, knownResult } = await current(workspace);
      const file = fileOf(id);
      const claim = file && claims.get(file);
      if (file === undefined || claim === undefined || source === undefined) return false;
      const result = knownResult(file);
      if (result !== undefined) return result.kind === 'compiled' && result.stored?.sourceHash === source;
      // A file that says the same calls the same routines. If there were none and nothing is bound, it is all that counts.
      return listing.bindings === undefined && ownHash(claim) === source;
    },
  };
}

/** A catalog with its inputs, which the next one reuses. */
type Built = AssembledCatalog & {
  /** Loads the compiler if the result of one of these files is not known. */
  readonly prepare: (files: readonly WorkflowFile[]) => Promise<void>;
  /** The result of a file that needs no compiler. */
  readonly knownResult: (file: WorkflowFile) => FileResult | undefined;
  /** The result of a file that `prepare` was called for. */
  readonly resultOf: (file: WorkflowFile) => FileResult;
  readonly listing: SourceListing;
  readonly claims: ReadonlyMap<WorkflowFile, FileClaim | undefined>;
  readonly surroundings: Surroundings;
  readonly results: Map<WorkflowFile, FileResult>;
};

function buildCatalog(listing: SourceListing, tools: CatalogTools, before: Built | undefined): Built {
  if (before !== undefined && isSameListing(listing, before.listing)) return before;
  const claims = new Map(
    listing.files.map((file) => [
      file,
      before?.claims.has(file) ? before.claims.get(file) : fileClaim(file, tools.compiledFiles),
    ]),
  );
  const choice = chooseFiles([...claims.values()].filter((claim) => claim !== undefined));
  const around = { routines: routinesOf(claims, choice), bindingsFile: listing.bindings };
  const surroundings = surroundingsOf(around, tools, before?.surroundings);
  const isSame = before !== undefined && surroundings === before.surroundings;
  const known = new Set(listing.files);
  const results = new Map(isSame ? [...before.results].filter(([file]) => known.has(file)) : []);
  const knownResult = (file: WorkflowFile) => {
    const { content } = file;
    if (content.kind === 'unread') return unreadResult(content.reason);
    const claim = claims.get(file);
    return results.get(file) ?? (claim && keptResult(claim, surroundings));
  };
  const resultOf = (file: WorkflowFile) => {
    const result = knownResult(file) ?? compileFile(file, claims.get(file), { surroundings, tools });
    results.set(file, result);
    return result;
  };
  const prepare = async (files: readonly WorkflowFile[]) => {
    if (files.some((file) => knownResult(file) === undefined)) await surroundings.open();
  };
  const assembled = assembleCatalog(listing, { claims, choice, surroundings, resultOf }, tools);
  return { ...assembled, prepare, knownResult, resultOf, listing, claims, surroundings, results };
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
  let compiler: FileCompiler | undefined;
  return {
    routines,
    bindingsFile,
    bindings,
    bindingsDiagnostics: diagnostics,
    bindingsFields: fields,
    compiler: () => compiler,
    open: async () => {
      const openCompiler = await tools.compiler();
      compiler ??= openCompiler({ routines, bindings });
    },
  };
}

function compileFile(
  file: WorkflowFile,
  claim: FileClaim | undefined,
  { surroundings, tools }: { readonly surroundings: Surroundings; readonly tools: CatalogTools },
): FileResult {
  const compiler = surroundings.compiler();
  assert(compiler !== undefined, 'the compiler is loaded before a file is compiled');
  const result = compiler.routineResults.get(file) ?? compiler.compile(file);
  if (result.kind === 'compiled' && claim !== undefined) keepResult(tools, claim, { result, around: surroundings });
  return result;
}
