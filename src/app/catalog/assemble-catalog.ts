import { assert } from '../../core/assert.ts';
import { digestHex, ownJsonBytes, type Sha256, type Sha256Digest } from '../../core/json/canonical-json.ts';
import { defined } from '../../core/json/json-value.ts';
import type { Diagnostic } from '../../core/workflow/diagnostics/diagnostic.ts';
import { sourceHash, type WorkflowOrigin } from '../../core/workflow/drift.ts';
import { legacyName } from '../../core/workflow/format/limits.ts';
import type { CompiledFiles, SourceFile, SourceListing, WorkflowFile } from '../ports/workflow-sources.ts';
import {
  type Catalog,
  type FoundWorkflow,
  findWorkflow,
  type InvalidFile,
  inListOrder,
  type ListedWorkflow,
} from './catalog.ts';
import type { ChosenFile, FileChoice } from './choose-files.ts';
import type { FileCompiler } from './compile-files.ts';
import { type FileClaim, isNamedAfter, SOURCE_NAMESPACES, templateIdOf } from './file-claim.ts';
import { type Around, type FileResult, locatedIn, originOf } from './file-result.ts';
import { misspelledSlots, type ReadBindings } from './read-bindings.ts';

export type CatalogTools = {
  /** Loads the compiler, which is the largest part of the program and rarely needed. */
  readonly compiler: () => Promise<OpenCompiler>;
  /** What is known of files without compiling them. */
  readonly compiledFiles?: CompiledFiles;
  readonly sha256: Sha256;
  /** Awaited between files when all are compiled, so that the user can interrupt. */
  readonly yieldNow?: () => Promise<void>;
  /** Former ids of bundled workflows, with their current ids. */
  readonly aliases: ReadonlyMap<string, string>;
};

/** Opens the compiler for what is around a file. */
export type OpenCompiler = (around: Around) => FileCompiler;

/** What the meaning of a file depends on besides its text. */
export type Surroundings = Around & {
  readonly bindingsFile: SourceFile | undefined;
  readonly bindingsDiagnostics: readonly Diagnostic[];
  readonly bindingsFields: ReadBindings['fields'];
  /** Loads the compiler and compiles the routines. */
  readonly open: () => Promise<void>;
  readonly compiler: () => FileCompiler | undefined;
};

/** The catalog of one listing. Files are compiled when they are first needed. */
export type AssembledCatalog = {
  /** Everything there is. This compiles every file. */
  readonly catalog: () => Catalog;
  /** The file that is used for an id. */
  readonly fileOf: (id: string) => WorkflowFile | undefined;
  /** What an id refers to. This compiles only the file of that id. */
  readonly find: (id: string) => FoundWorkflow;
};

type Parts = {
  readonly claims: ReadonlyMap<WorkflowFile, FileClaim | undefined>;
  readonly surroundings: Surroundings;
  readonly choice: FileChoice;
  /** Compiles a file on first use. */
  readonly resultOf: (file: WorkflowFile) => FileResult;
};
type Names = {
  readonly sha256: Sha256;
  readonly suggested: ReadonlyMap<WorkflowFile, string>;
  readonly aliases: (id: string) => readonly string[];
};

/** The catalog of these files. Each is compiled when it is needed. */
export function assembleCatalog(listing: SourceListing, parts: Parts, tools: CatalogTools): AssembledCatalog {
  const { chosen } = parts.choice;
  const byId = new Map(chosen.map((one) => [one.claim.id, one]));
  const known = new Map<ChosenFile, ListedWorkflow | undefined>();
  const names = namesFor(parts, tools);
  const listedFor = (one: ChosenFile) => {
    if (!known.has(one)) known.set(one, listed(one, parts, names));
    return known.get(one);
  };
  let whole: Catalog | undefined;
  const catalog = () => {
    whole ??= wholeCatalog(listing, { ...parts, names }, listedFor);
    return whole;
  };
  return {
    catalog,
    fileOf: (id) => byId.get(id)?.claim.file,
    find: (id) => {
      const one = byId.get(id);
      const found = one && listedFor(one);
      return found === undefined ? findWorkflow(catalog(), id) : { kind: 'found', listed: found };
    },
  };
}

function wholeCatalog(
  { files, bindings, workspaceProblem }: SourceListing,
  { names, ...parts }: Parts & { readonly names: Names },
  listedFor: (one: ChosenFile) => ListedWorkflow | undefined,
): Catalog {
  const { choice, surroundings } = parts;
  const chosen = new Map(choice.chosen.map((one) => [one.claim.file, one]));
  const workflows = files.flatMap((file) => {
    const one = chosen.get(file);
    return one === undefined ? [] : (listedFor(one) ?? []);
  });
  const invalid: InvalidFile[] = files.flatMap(
    (file) => invalidFile(file, chosen.get(file), { ...parts, names }) ?? [],
  );
  if (bindings !== undefined && surroundings.bindingsDiagnostics.length > 0) {
    const diagnostics = locatedIn(bindings, surroundings.bindingsDiagnostics);
    invalid.push({ file: bindings, diagnostics, shadows: [] });
  }
  return {
    workflows: workflows.sort(inListOrder),
    invalid,
    ...defined({ workspaceProblem }),
  };
}

/** If a file claims a former id, it gets it: no bundled workflow overrides the user's own. */
function namesFor({ claims }: Parts, { sha256, aliases }: CatalogTools): Names {
  const claimed = [...claims.values()].filter((claim) => claim !== undefined);
  const taken = new Set(claimed.map(({ id }) => id));
  return {
    sha256,
    suggested: suggestIds(claimed, sha256),
    aliases: (id) => [...aliases].flatMap(([old, now]) => (now === id && !taken.has(old) ? [old] : [])).sort(),
  };
}

function listed({ claim, shadows }: ChosenFile, parts: Parts, names: Names): ListedWorkflow | undefined {
  const { file, kind } = claim;
  const result = parts.resultOf(file);
  if (result.kind !== 'compiled') return undefined;
  const { head, diagnostics, stored } = result;
  const { id, name, description, tags, capabilities } = head;
  assert(id === claim.id, 'a file compiles under the id that it claims');
  const suggestedId = names.suggested.get(file);
  const origin = originOf(claim, result, parts.surroundings);
  const bindingProblems = bindingProblemsOf(origin, parts.surroundings);
  let digest: Sha256Digest | undefined;
  return {
    id,
    kind,
    name,
    description,
    tags,
    capabilities,
    idStatus: id.includes('.') ? 'namespaced' : 'legacy',
    aliases: file.kind === 'bundled' ? names.aliases(id) : [],
    ...defined({ suggestedId }),
    sourceKind: file.kind,
    file,
    shadows,
    warnings: locatedIn(file, [...fileNameWarning(claim), ...diagnostics.map((one) => named(one, claim, names))]),
    ...defined({ bindingProblems }),
    get workflow() {
      return result.workflow;
    },
    origin,
    sourceHash: () => {
      digest ??= stored?.sourceHash ?? sourceHash(origin, names.sha256);
      return digest;
    },
    ...defined({ stored }),
  };
}

/** What is wrong in the bindings of the workspace, for a workflow that has slots. */
function bindingProblemsOf(
  { slotIds }: WorkflowOrigin,
  { bindingsFile, bindingsDiagnostics, bindingsFields }: Surroundings,
): ListedWorkflow['bindingProblems'] {
  if (bindingsFile === undefined || slotIds.length === 0) return undefined;
  const found = [...bindingsDiagnostics, ...misspelledSlots(bindingsFields, slotIds)];
  return found.length === 0 ? undefined : { file: bindingsFile, diagnostics: locatedIn(bindingsFile, found) };
}

/** Users look for a file by its id, so its name should match. */
function fileNameWarning({ file, id, idSpan }: FileClaim): readonly Diagnostic[] {
  if (isNamedAfter(file, id)) return [];
  const name = id.slice(id.indexOf('.') + 1);
  const message = `The file name does not match the id "${id}". Rename the file to ${id}.json or ${name}.json.`;
  return [{ code: 'file_name_differs', severity: 'warning', pointer: '/id', span: idSpan(), message }];
}

function invalidFile(
  file: WorkflowFile,
  chosen: ChosenFile | undefined,
  parts: Parts & { readonly names: Names },
): InvalidFile | undefined {
  const claim = parts.claims.get(file);
  const result = parts.resultOf(file);
  const other = parts.choice.duplicates.get(file);
  const duplicate =
    claim !== undefined && other !== undefined ? [duplicateId(claim, other, parts.claims.get(other)?.id)] : [];
  if (result.kind === 'compiled' && duplicate.length === 0) return undefined;
  const diagnostics = [...duplicate, ...result.diagnostics.map((one) => named(one, claim, parts.names))];
  return {
    file,
    ...(claim === undefined ? {} : { id: claim.id }),
    diagnostics: locatedIn(file, diagnostics),
    shadows: chosen?.shadows ?? [],
  };
}

function duplicateId({ file, id, idSpan }: FileClaim, other: WorkflowFile, otherId: string | undefined): Diagnostic {
  const taken = otherId === id ? `already has the id "${id}"` : `is already called as "${templateIdOf(file, id)}"`;
  const message = `${other.ref} ${taken}. Give this workflow another id, or remove the file.`;
  return { code: 'duplicate_id', severity: 'error', pointer: '/id', span: idSpan(), message };
}

/** The compiler knows neither where a file is nor which ids are taken, so what it says about names is completed here. */
function named(diagnostic: Diagnostic, claim: FileClaim | undefined, { suggested }: Names): Diagnostic {
  const id = claim && suggested.get(claim.file);
  if (claim === undefined || id === undefined) return diagnostic;
  switch (diagnostic.code) {
    case 'reserved_namespace': {
      const edits = [{ ...claim.idSpan(), text: JSON.stringify(id) }];
      return { ...diagnostic, fix: { title: `Rename it to "${id}"`, edits } };
    }
    case 'legacy_id':
      return {
        ...diagnostic,
        message: `"${claim.id}" is an id without a namespace. It still runs; rename it to "${id}".`,
      };
    default:
      return diagnostic;
  }
}

const SUFFIX_LENGTH = 4;

/**
 * Suggests ids for files whose id has no namespace or a reserved one. Equal files get equal suggestions on every machine.
 */
function suggestIds(claims: readonly FileClaim[], sha256: Sha256): ReadonlyMap<WorkflowFile, string> {
  const taken = new Set(claims.map(({ id }) => id));
  const oldIds = new Map<string, Set<string>>();
  const plain = claims
    .filter(({ id, isReserved }) => isReserved || !id.includes('.'))
    .map((claim) => ({ claim, id: plainSuggestion(claim) }));
  for (const { claim, id } of plain) oldIds.set(id, (oldIds.get(id) ?? new Set()).add(claim.id));
  return new Map(
    plain.map(({ claim: { file }, id }) => {
      const isFree = !taken.has(id) && oldIds.get(id)?.size === 1;
      return [file, isFree ? id : `${id}_${suffixOf(file, sha256)}`];
    }),
  );
}

function plainSuggestion({ file, id, isReserved }: FileClaim): string {
  return `${SOURCE_NAMESPACES[file.kind]}.${isReserved ? id.slice(id.indexOf('.') + 1) : legacyName(id)}`;
}

/** Derived from the place of the file and not from its content, so that an edit does not change the suggestion. */
function suffixOf({ kind, ref }: WorkflowFile, sha256: Sha256): string {
  return digestHex(sha256(ownJsonBytes([kind, ref]))).slice(0, SUFFIX_LENGTH);
}
