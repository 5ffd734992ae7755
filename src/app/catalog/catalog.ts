import type { Sha256Digest } from '../../core/json/canonical-bytes.ts';
import type { WorkflowSourceKind } from '../../core/log/events/run-events.ts';
import type { WorkspaceProblem } from '../../core/prompt/reply-warnings.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { WorkflowOrigin } from '../../core/workflow/drift.ts';
import type { SourceFile, WorkflowFile } from '../ports/workflow-sources.ts';
import { isNamedAfter } from './file-claim.ts';
import type { LocatedDiagnostic } from './file-diagnostics.ts';

/** A workflow or routine that can be started. */
export type ListedWorkflow = {
  readonly id: string;
  readonly kind: 'workflow' | 'routine';
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly idStatus: 'namespaced' | 'legacy';
  /** Ids that a bundled workflow used to have and can still be started by. */
  readonly aliases: readonly string[];
  /** What an id of the old kind should become. */
  readonly suggestedId?: string;
  readonly sourceKind: WorkflowSourceKind;
  readonly file: WorkflowFile;
  /** Files with the same id that are not used because of this one. */
  readonly shadows: readonly WorkflowFile[];
  readonly warnings: readonly LocatedDiagnostic[];
  readonly workflow: CompiledWorkflow;
  /** What drift is measured against. */
  readonly origin: WorkflowOrigin;
  /** The digest of the origin. Reading the files for it takes a while, so it is done when asked for, and once. */
  readonly sourceHash: () => Sha256Digest;
};

/** A file that cannot be used, and everything that keeps it from being used. */
export type InvalidFile = {
  readonly file: SourceFile;
  /** The id it claims, where it claims one. */
  readonly id?: string;
  readonly diagnostics: readonly LocatedDiagnostic[];
  readonly shadows: readonly WorkflowFile[];
};

export type Catalog = {
  readonly workflows: readonly ListedWorkflow[];
  readonly invalid: readonly InvalidFile[];
  /** Why the workspace that was asked for was not looked at. */
  readonly workspaceProblem?: WorkspaceProblem;
};

export type FoundWorkflow =
  | {
      readonly kind: 'found';
      readonly listed: ListedWorkflow;
      /** The old id that was asked for, where it is not the one that the workflow has now. */
      readonly alias?: string;
    }
  | { readonly kind: 'invalid'; readonly invalid: InvalidFile }
  | { readonly kind: 'unknown'; readonly known: readonly string[] };

/**
 * What an id stands for. An id whose file is broken is not unknown: its author must hear what is wrong, also when the
 * file is so broken that it says no id and only its name tells what it was to be.
 */
export function findWorkflow({ workflows, invalid }: Catalog, id: string): FoundWorkflow {
  const listed = workflows.find((workflow) => workflow.id === id);
  if (listed !== undefined) return { kind: 'found', listed };
  const broken = invalid.find((one) => one.id === id);
  if (broken !== undefined) return { kind: 'invalid', invalid: broken };
  const renamed = workflows.find(({ aliases }) => aliases.includes(id));
  if (renamed !== undefined) return { kind: 'found', listed: renamed, alias: id };
  const nameless = invalid.find((one) => one.id === undefined && 'kind' in one.file && isNamedAfter(one.file, id));
  if (nameless !== undefined) return { kind: 'invalid', invalid: nameless };
  return { kind: 'unknown', known: workflows.map((workflow) => workflow.id) };
}

/** By namespace, where ids without one come first; then workflows before routines; then by the rest of the id. */
export function inListOrder(a: ListedWorkflow, b: ListedWorkflow): number {
  return order(namespaceOf(a.id), namespaceOf(b.id)) || order(b.kind, a.kind) || order(a.id, b.id);
}

function namespaceOf(id: string): string {
  return id.includes('.') ? id.slice(0, id.indexOf('.')) : '';
}

/** By code units: the same on every machine, whatever language it speaks. */
function order(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

export type WorkflowFilter = {
  /** Words that must all occur, wherever. */
  readonly query?: string | undefined;
  /** Tags that it must all have. */
  readonly tags?: readonly string[] | undefined;
};

/** Those workflows that a search asks for, in their order. */
export function filterWorkflows(
  workflows: readonly ListedWorkflow[],
  { query = '', tags = [] }: WorkflowFilter,
): readonly ListedWorkflow[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const wanted = tags.map((tag) => tag.toLowerCase());
  return workflows.filter((workflow) => {
    const text = textOf(workflow);
    const has = workflow.tags.map((tag) => tag.toLowerCase());
    return words.every((word) => text.includes(word)) && wanted.every((tag) => has.includes(tag));
  });
}

function textOf({ id, name, description, tags, aliases }: ListedWorkflow): string {
  return [id, name, description, ...tags, ...aliases].join('\n').toLowerCase();
}
