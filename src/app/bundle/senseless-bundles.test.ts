import { beforeAll, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import type { LooseBundle } from '../../../test/examples/bundles.ts';
import { firstKey, forged, refusal, sharedBundle } from '../../../test/examples/forged-bundles.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { canonicalBytes } from '../../core/json/canonical-json.ts';
import type { ExecutionSnapshot } from '../../core/log/execution-snapshot.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';

let file: Uint8Array;

beforeAll(async () => {
  file = await sharedBundle();
});

const nameOf = (value: unknown) => sha256(canonicalBytes(value)._unsafeUnwrap()) as string;

/** Takes another value in, and calls it by its right name wherever it is named. */
function exchange(bundle: LooseBundle, table: 'snapshots' | 'pinnedWorkflows', change: (value: never) => void): void {
  const content = bundle.session[table];
  const old = table === 'snapshots' ? String(lastNode(bundle)['snapshotRef']) : firstKey(content);
  const value = structuredClone(content[old]) as never;
  change(value);
  const renamed = JSON.parse(JSON.stringify(bundle.session).replaceAll(old, nameOf(value))) as LooseBundle['session'];
  renamed[table][nameOf(value)] = value;
  bundle.session = renamed;
  // Snapshots name their workflow, so they are called otherwise as well.
  for (const [ref, snapshot] of Object.entries(bundle.session.snapshots)) {
    if (nameOf(snapshot) === ref) continue;
    bundle.session = JSON.parse(JSON.stringify(bundle.session).replaceAll(ref, nameOf(snapshot))) as typeof renamed;
  }
}

function lastNode({ session }: LooseBundle): Record<string, unknown> {
  const nodes = session.events.filter(({ kind, data }) => kind === 'node_created' && isRunning(session, data as never));
  return (nodes.at(-1)?.['data'] as Record<string, unknown>) ?? expect.fail('no node stands at a step');
}

function isRunning({ snapshots }: LooseBundle['session'], { snapshotRef }: { readonly snapshotRef: string }): boolean {
  return (snapshots[snapshotRef] as ExecutionSnapshot).enginePayload.state.kind === 'running';
}

const stateOf = (snapshot: ExecutionSnapshot) =>
  snapshot.enginePayload.state as unknown as {
    cursor: number;
    pending: { kind: string; step?: { stepId: string } };
  };
const inSnapshot = (change: (state: ReturnType<typeof stateOf>) => void) => (bundle: LooseBundle) =>
  exchange(bundle, 'snapshots', (snapshot) => change(stateOf(snapshot)));
const inWorkflow = (change: (workflow: CompiledWorkflow) => void) => (bundle: LooseBundle) =>
  exchange(bundle, 'pinnedWorkflows', (workflow) => change(workflow));

const UNFIT = { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'snapshot_unfit' };
const MISSHAPEN = { code: 'BUNDLE_INVALID_FORMAT', reason: 'wrong_shape' };

it.each<[string, (bundle: LooseBundle) => void, object]>([
  [
    'a step that its workflow does not have',
    inSnapshot(({ pending }) => Object.assign(pending.step ?? {}, { stepId: 'ghost' })),
    UNFIT,
  ],
  ['a position behind the last step', inSnapshot((state) => Object.assign(state, { cursor: 99_999 })), UNFIT],
  ['no step at all', inSnapshot((state) => Object.assign(state, { pending: { kind: 'none' } })), UNFIT],
  ['a workflow without its steps', inWorkflow((workflow) => workflow.steps.splice(0)), MISSHAPEN],
  [
    'a workflow that leads to a step it does not have',
    inWorkflow(({ entries }) => Object.assign(entries.at(-1) ?? {}, { stepId: 'ghost' })),
    MISSHAPEN,
  ],
  [
    'a workflow that leads to a step twice',
    inWorkflow(({ entries, steps }) => {
      entries.push({ kind: 'step', stepId: steps[0]?.stepId as never });
    }),
    MISSHAPEN,
  ],
  [
    'a condition that nobody wrote',
    inWorkflow(({ steps }) => Object.assign(steps[0] ?? {}, { runCondition: { kind: 'ref', conditionId: 'ghost' } })),
    MISSHAPEN,
  ],
  [
    'a contract that is not there',
    inWorkflow(({ steps }) =>
      Object.assign(steps[0] ?? {}, { output: { contractRef: 'wr.contracts.ghost', isRequired: true, hints: [] } }),
    ),
    MISSHAPEN,
  ],
  [
    'a pattern that is none',
    inWorkflow(({ steps }) =>
      Object.assign(steps[0] ?? {}, {
        runCondition: { kind: 'compare', variable: 'a', comparison: 'matches', value: '(' },
      }),
    ),
    MISSHAPEN,
  ],
  [
    'another workflow than the run was started with',
    inWorkflow((workflow) => Object.assign(workflow, { workflowId: 'test.other' })),
    { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'other_workflow' },
  ],
  [
    'a name that would fill every reply',
    inWorkflow((workflow) => Object.assign(workflow, { name: 'N'.repeat(500_000) })),
    { code: 'BUNDLE_INVALID_FORMAT', reason: 'text_too_long' },
  ],
])('a bundle whose digests all fit is held to its meaning: %s', async (_, change, expected) => {
  enforces('import_validates_first');
  expect(await refusal(forged(file, change))).toMatchObject(expected);
});
