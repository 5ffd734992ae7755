import type { Result } from 'neverthrow';
import type { LoadRefusal } from '../../../src/app/ports/session-store.ts';
import type { Damage } from '../../../src/core/log/health.ts';
import { sealWorkflow } from '../../../src/core/workflow/compiled/sealed-workflow.ts';
import { SMALL_WORKFLOW } from '../../examples/compiled.ts';
import { sha256 } from '../../examples/sha256.ts';
import type { SimulatedStore } from './simulated-store.ts';
import { type ExpectedAppend, SMALL_SESSION_ID } from './small-session.ts';

/** What a reader got. */
export type Told =
  | { readonly kind: 'found'; readonly value: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly place: string; readonly offset: number };

/** One way to read what is stored. */
export type Look = { readonly name: string; readonly at: (store: SimulatedStore) => Promise<Told> };

/** Every way to read a stored session and what belongs to it. */
export function everyLook(appends: readonly ExpectedAppend[]): readonly Look[] {
  const snapshots = new Set(appends.flatMap(({ plan }) => [...plan.snapshots.keys()]));
  const artifacts = new Set(appends.flatMap(({ plan }) => [...plan.artifacts.keys()]));
  const look = <Value>(
    name: string,
    read: (store: SimulatedStore) => Promise<Result<Value, Refusal>>,
    show: (value: Value) => unknown = (value) => value,
  ): Look => ({ name, at: async (store) => told((await read(store)).map(show)) });
  return [
    look(
      'load',
      ({ sessions }) => sessions.load(SMALL_SESSION_ID),
      ({ view }) => view.nextEventIndex,
    ),
    { name: 'valid prefix', at: toldPrefix },
    ...appends.flatMap(({ replies }) =>
      replies.map(([index]) => look(`reply ${index}`, ({ sessions }) => sessions.storedReply(SMALL_SESSION_ID, index))),
    ),
    ...[...snapshots].map((ref) => look(`snapshot ${ref}`, (store) => store.snapshots.get(ref))),
    ...[...artifacts].map((digest) => look(`artifact ${digest}`, (store) => store.artifacts.get(digest))),
    look('pinned workflow', (store) => store.pinnedWorkflows.get(sealWorkflow(SMALL_WORKFLOW, sha256).hash)),
    look('keyring', ({ keyring }) => keyring.find()),
  ];
}

type Refusal =
  | { readonly code: 'damaged'; readonly damage: Damage }
  | { readonly code: 'unknown_version'; readonly place: string; readonly offset: number }
  | { readonly code: 'other_workflow_stored'; readonly place: string }
  | {
      readonly code: Exclude<LoadRefusal['code'], 'damaged' | 'unknown_version'>;
    };

async function toldPrefix({ sessions }: SimulatedStore): Promise<Told> {
  const prefix = await sessions.loadValidPrefix(SMALL_SESSION_ID);
  if (prefix.isErr() || prefix.value.kind === 'whole') return told(prefix.map(({ view }) => view.nextEventIndex));
  const { health } = prefix.value;
  return health.kind === 'unknown_version'
    ? { kind: 'refused', reason: health.kind, place: health.place, offset: health.offset }
    : { kind: 'refused', ...health.damage };
}

function told(result: Result<unknown, Refusal>): Told {
  if (result.isOk()) return { kind: 'found', value: JSON.stringify(result.value) };
  const { error } = result;
  if (error.code === 'damaged') return { kind: 'refused', ...error.damage };
  if (error.code === 'unknown_version') {
    return { kind: 'refused', reason: error.code, place: error.place, offset: error.offset };
  }
  const place = error.code === 'other_workflow_stored' ? error.place : '';
  return { kind: 'refused', reason: error.code, place, offset: 0 };
}
