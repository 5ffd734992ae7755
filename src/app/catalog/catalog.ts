import type { Sha256Digest } from '../../core/json/canonical-json.ts';
import type { WorkflowSourceKind } from '../../core/log/events/run-events.ts';
import type { WorkspaceProblem } from '../../core/prompt/warning-facts.ts';
import { searchWords, wordsIn } from '../../core/text/search-words.ts';
import { type MeantIds, meantIds } from '../../core/text/spelling.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { WorkflowOrigin } from '../../core/workflow/drift.ts';
import type { SourceFile, WorkflowFile } from '../ports/workflow-sources.ts';
import { isNamedAfter } from './file-claim.ts';
import type { LocatedDiagnostic, StoredWorkflow } from './file-result.ts';

/** A workflow or routine that can be started. */
export type ListedWorkflow = {
  readonly id: string;
  readonly kind: 'workflow' | 'routine';
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Those that it cannot do without. */
  readonly capabilities: readonly string[];
  readonly idStatus: 'namespaced' | 'legacy';
  /** Former ids of a bundled workflow, which still start it. */
  readonly aliases: readonly string[];
  /** The suggested id with a namespace, if the id has none. */
  readonly suggestedId?: string;
  readonly sourceKind: WorkflowSourceKind;
  readonly file: WorkflowFile;
  /** Files of the same id that this one overrides. */
  readonly shadows: readonly WorkflowFile[];
  readonly warnings: readonly LocatedDiagnostic[];
  /** What is wrong in the bindings of the workspace, if the workflow has slots. */
  readonly bindingProblems?:
    | { readonly file: SourceFile; readonly diagnostics: readonly LocatedDiagnostic[] }
    | undefined;
  readonly workflow: CompiledWorkflow;
  /** What drift is compared with. */
  readonly origin: WorkflowOrigin;
  /** The digest of the origin, computed once on first use, because it reads files. */
  readonly sourceHash: () => Sha256Digest;
  /** Set if it was compiled earlier: the workflow is then read from these bytes. */
  readonly stored?: StoredWorkflow;
};

/** A file that cannot be used, and all reasons. */
export type InvalidFile = {
  readonly file: SourceFile;
  /** The id it claims, if any. */
  readonly id?: string;
  readonly diagnostics: readonly LocatedDiagnostic[];
  readonly shadows: readonly WorkflowFile[];
};

export type Catalog = {
  readonly workflows: readonly ListedWorkflow[];
  readonly invalid: readonly InvalidFile[];
  /** Why the given workspace was not read. */
  readonly workspaceProblem?: WorkspaceProblem;
};

export type FoundWorkflow =
  | {
      readonly kind: 'found';
      readonly listed: ListedWorkflow;
      /** The former id that was asked for, if it was one. */
      readonly alias?: string;
    }
  | { readonly kind: 'invalid'; readonly invalid: InvalidFile }
  | ({ readonly kind: 'unknown' } & UnknownId);

/** All ids, and what the given text may mean by its words or as the name of a workflow. */
export type UnknownId = {
  readonly known: readonly string[];
  readonly meant: MeantIds;
  /** These lines name the sources that nobody accepted: one of them may have the workflow. */
  readonly waiting?: readonly string[];
};

/**
 * What an id refers to. The id of a broken file is not unknown: the author needs its errors, even if the file is so
 * broken that only its name gives the id.
 */
export function findWorkflow({ workflows, invalid }: Catalog, id: string): FoundWorkflow {
  const listed = workflows.find((workflow) => workflow.id === id);
  if (listed !== undefined) return { kind: 'found', listed };
  const broken = invalid.find((one) => one.id === id);
  if (broken !== undefined) return { kind: 'invalid', invalid: broken };
  const renamed = workflows.find(({ aliases }) => aliases.includes(id));
  if (renamed !== undefined) return { kind: 'found', listed: renamed, alias: id };
  const nameless = invalid.find((one) => hasNoUsableId(one) && 'kind' in one.file && isNamedAfter(one.file, id));
  if (nameless !== undefined) return { kind: 'invalid', invalid: nameless };
  const known = workflows.map((workflow) => workflow.id);
  const waiting = id.startsWith('wr.') ? [] : waitingIn(invalid);
  return { kind: 'unknown', known, meant: meantIds(id, workflows), ...(waiting.length === 0 ? {} : { waiting }) };
}

/** A source cannot have ids of bundled workflows, so for those there is nothing to wait for. */
function waitingIn(invalid: readonly InvalidFile[]): readonly string[] {
  return invalid.filter(waitsForUser).flatMap(({ diagnostics }) => diagnostics.map(({ message }) => message));
}

/** A source that nobody accepted is not a mistake in a file, and the agent cannot do anything about it. */
export function waitsForUser({ diagnostics }: InvalidFile): boolean {
  return diagnostics.every(({ code }) => code === 'source_not_accepted');
}

/** The names of the sources that nobody accepted yet. */
export function waitingSources(invalid: readonly InvalidFile[]): readonly string[] {
  return invalid.filter(waitsForUser).flatMap(({ file: { content } }) => {
    const reason = content.kind === 'unread' ? content.reason : undefined;
    return reason?.code === 'not_accepted' ? [reason.source] : [];
  });
}

/** A file with an id that no workflow may have is asked for by its name. */
function hasNoUsableId({ id, diagnostics }: InvalidFile): boolean {
  const isRefused = diagnostics.some(
    ({ code, pointer }) => pointer === '/id' && (code === 'bad_id' || code === 'reserved_namespace'),
  );
  return id === undefined || isRefused;
}

/** By namespace, ids without one first; then workflows before routines; then by the rest of the id. */
export function inListOrder(a: ListedWorkflow, b: ListedWorkflow): number {
  return order(namespaceOf(a.id), namespaceOf(b.id)) || order(b.kind, a.kind) || order(a.id, b.id);
}

function namespaceOf(id: string): string {
  return id.includes('.') ? id.slice(0, id.indexOf('.')) : '';
}

/** By code units, so that the order is the same in every locale. */
function order(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

export type WorkflowFilter = {
  /** Words that must all occur somewhere. */
  readonly query?: string | undefined;
  /** Tags that must all be set. */
  readonly tags?: readonly string[] | undefined;
};

/** The workflows that match a search, in their order. */
export function filterWorkflows(
  workflows: readonly ListedWorkflow[],
  { query = '', tags = [] }: WorkflowFilter,
): readonly ListedWorkflow[] {
  const words = searchWords(query);
  const wanted = tags.map((tag) => tag.toLowerCase());
  return workflows.filter((workflow) => {
    const text = textOf(workflow);
    const has = workflow.tags.map((tag) => tag.toLowerCase());
    return wordsIn(text, words).length === words.length && wanted.every((tag) => has.includes(tag));
  });
}

function textOf({ id, name, description, tags, aliases }: ListedWorkflow): string {
  return [id, name, description, ...tags, ...aliases].join('\n');
}
