import {
  type EngineState,
  type ExecutionSnapshot,
  executionSnapshot,
  sealSnapshot,
} from '../../src/core/log/execution-snapshot.ts';
import { type SnapshotRef, stepInstanceKey } from '../../src/core/log/ids.ts';
import { loop, step, WORKFLOW_HASH } from './ids.ts';
import { sha256 } from './sha256.ts';

const OUTER = { loopId: loop('outer'), iteration: 0 };
const INNER = { loopId: loop('inner'), iteration: 2 };

const STATES = {
  init: { kind: 'init' },
  top_level: {
    kind: 'running',
    cursor: 0,
    completed: { kind: 'set', values: [] },
    loopStack: [],
    pending: { kind: 'some', step: { stepId: step('triage'), loopPath: [] } },
  },
  in_loops: {
    kind: 'running',
    cursor: 3,
    completed: {
      kind: 'set',
      values: [
        stepInstanceKey(step('look'), [OUTER, INNER]),
        stepInstanceKey(step('note'), [OUTER, INNER]),
        stepInstanceKey(step('prepare'), [OUTER]),
      ],
    },
    loopStack: [
      { ...OUTER, bodyIndex: 1, items: ['src/a.ts', { path: 'src/b.ts', lines: [1, 2] }] },
      { ...INNER, bodyIndex: 2, count: 5 },
    ],
    pending: { kind: 'some', step: { stepId: step('decide'), loopPath: [OUTER, INNER] } },
  },
  nothing_pending: {
    kind: 'running',
    cursor: 4,
    completed: { kind: 'set', values: [] },
    loopStack: [],
    pending: { kind: 'none' },
  },
  complete: { kind: 'complete' },
} as const satisfies { readonly [name: string]: EngineState | unknown };

export type SnapshotName = keyof typeof STATES;

/** One snapshot for each state there is. */
export const SNAPSHOT_EXAMPLES = Object.fromEntries(
  Object.entries(STATES).map(([name, state]) => [name, executionSnapshot(WORKFLOW_HASH, state as EngineState)]),
) as { readonly [name in SnapshotName]: ExecutionSnapshot };

export const snapshotRef = (name: SnapshotName): SnapshotRef => sealSnapshot(SNAPSHOT_EXAMPLES[name], sha256).ref;

export const SNAPSHOTS_BY_REF: ReadonlyMap<SnapshotRef, ExecutionSnapshot> = new Map(
  Object.values(SNAPSHOT_EXAMPLES).map((snapshot) => [sealSnapshot(snapshot, sha256).ref, snapshot]),
);
