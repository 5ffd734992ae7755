import { err, ok, type Result } from 'neverthrow';
import { canonicalLength } from '../json/canonical-json.ts';
import { STEP_BYTES_MAX } from '../log/budgets.ts';
import { type ExecutionSnapshot, parseSnapshot, takeSnapshotAsParsed } from '../log/execution-snapshot.ts';
import type { ArtifactDigest, SnapshotRef, WorkflowHash } from '../log/ids.ts';
import { type CompiledWorkflow, parseCompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { sealWorkflow } from '../workflow/compiled/sealed-workflow.ts';
import { FILLED_LENGTH_MAX } from '../workflow/expand/fill-text.ts';
import type { TableName } from './bundle-document.ts';
import type { BundleIndex } from './bundle-index.ts';
import { type BundleRefusal, broken, invalid, newer } from './bundle-refusal.ts';
import type { BundleTools } from './bundle-tools.ts';

/** The content of a bundle, parsed on demand. */
export type BundleContent = {
  readonly snapshot: (ref: SnapshotRef) => Result<ExecutionSnapshot, BundleRefusal>;
  readonly workflow: (hash: WorkflowHash) => Result<CompiledWorkflow, BundleRefusal>;
  readonly artifact: (digest: ArtifactDigest) => Result<Uint8Array, BundleRefusal>;
};

/** Every node names its workflow, and a session rarely has more; a hostile file must not fill the memory. */
const WORKFLOWS_KEPT = 16;

export function bundleContent(index: BundleIndex, tools: BundleTools, isChecked = false): BundleContent {
  const find = (table: TableName, key: string): Result<unknown, BundleRefusal> | undefined => {
    const span = index.tables[table].get(key);
    if (span === undefined) return undefined;
    return tools.parseJson(index.bytes.subarray(...span)).mapErr((reason) => invalid(reason, pathOf(table, key)));
  };
  const readWorkflow = (workflowHash: WorkflowHash) => {
    const missing = { code: 'BUNDLE_MISSING_PINNED_WORKFLOW', workflowHash } as const;
    const found = find('pinnedWorkflows', workflowHash) ?? err(missing);
    return found.andThen((value) =>
      parseCompiledWorkflow(value)
        .mapErr((cause) => misread('pinnedWorkflows', workflowHash, cause))
        .andThen((parsed) => namedBy(workflowHash, parsed, tools))
        .andThen((named) => withinBudgets(workflowHash, named)),
    );
  };
  const kept = new Map<WorkflowHash, CompiledWorkflow>();
  return {
    workflow: (hash) => {
      const known = kept.get(hash);
      if (known !== undefined) return ok(known);
      return readWorkflow(hash).map((workflow) => {
        if (kept.size >= WORKFLOWS_KEPT) kept.clear();
        kept.set(hash, workflow);
        return workflow;
      });
    },
    snapshot: (snapshotRef) => {
      const found = find('snapshots', snapshotRef) ?? err({ code: 'BUNDLE_MISSING_SNAPSHOT', snapshotRef } as const);
      if (isChecked) return found.map(takeSnapshotAsParsed);
      return found.andThen((value) => parseSnapshot(value).mapErr((cause) => misread('snapshots', snapshotRef, cause)));
    },
    artifact: (digest) => {
      const path = pathOf('artifacts', digest);
      const found = find('artifacts', digest) ?? err(broken('missing_artifact', path));
      return found.andThen((text) => {
        const bytes = typeof text === 'string' ? tools.fromBase64(text) : undefined;
        if (bytes === undefined) return err(invalid('wrong_shape', path));
        return tools.digestOf(bytes) === digest ? ok(bytes) : err(broken('wrong_artifact', path));
      });
    },
  };
}

function namedBy(
  hash: WorkflowHash,
  workflow: CompiledWorkflow,
  { sha256 }: BundleTools,
): Result<CompiledWorkflow, BundleRefusal> {
  const isItsName = sealWorkflow(workflow, sha256).hash === hash;
  return isItsName ? ok(workflow) : err(broken('digest_mismatch', pathOf('pinnedWorkflows', hash)));
}

function withinBudgets(hash: WorkflowHash, workflow: CompiledWorkflow): Result<CompiledWorkflow, BundleRefusal> {
  const path = textOverBudget(workflow);
  return path === undefined ? ok(workflow) : err(invalid('text_too_long', `${pathOf('pinnedWorkflows', hash)}${path}`));
}

type Misread = { readonly code: string; readonly version?: unknown; readonly path?: string };

function misread(table: TableName, key: string, cause: Misread): BundleRefusal {
  const path = pathOf(table, key);
  return cause.code === 'unknown_version'
    ? newer(path, cause.version)
    : invalid('wrong_shape', `${path}${cause.path ?? ''}`);
}

function pathOf(table: TableName, key: string): string {
  return `session/${table}/${key}`;
}

/** Where a workflow has a longer text than the compiler allows, as a JSON pointer: it would fill every reply. */
function textOverBudget(workflow: CompiledWorkflow): string | undefined {
  const { name, description, agentRole = '', loops, steps } = workflow;
  const standing = [...workflow.preconditions, ...workflow.clarificationPrompts, ...workflow.metaGuidance];
  const titles = loops.map(({ title }) => title);
  const references = workflow.references.flatMap(({ title, source, purpose }) => [title, source, purpose]);
  if (isLong(name)) return '/name';
  if ([description, agentRole, ...standing, ...titles, ...references].some(isLong)) return '';
  const asked = new Map(workflow.assessments.map((one) => [one.id, canonicalLength(one)]));
  const long = steps.findIndex((step) => {
    const assessments = step.assessmentIds.reduce((sum, id) => sum + (asked.get(id) ?? 0), 0);
    return canonicalLength(step) + assessments > STEP_BYTES_MAX;
  });
  return long === -1 ? undefined : `/steps/${long}`;
}

function isLong(text: string): boolean {
  return text.length > FILLED_LENGTH_MAX;
}
