import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import type { SessionHealth } from '../log/health.ts';
import { type CheckedView, checkedView, type WholeView } from './labelled-view.ts';
import { emptySessionView } from './session-view.ts';

test('a view over a damaged session says so, and nothing that goes on with a run accepts it', () => {
  enforces('views_salvage_labelled');
  const view = emptySessionView();
  const damage = { reason: 'manifest_chain_broken', place: 'manifest', offset: 7 } as const;
  const damaged: readonly SessionHealth[] = [
    { kind: 'corrupt_tail', damage },
    { kind: 'corrupt_head', damage },
    { kind: 'unknown_version', place: 'manifest', offset: 0, version: '2' },
  ];
  expect(checkedView(view, { kind: 'healthy' })).toEqual({ kind: 'whole', view });
  expect(damaged.map((health) => checkedView(view, health))).toEqual(
    damaged.map((health) => ({ kind: 'salvaged', health, view })),
  );

  const goOn = (whole: WholeView) => whole.kind;
  const refusals = [
    // @ts-expect-error a view may be salvaged until its kind was looked at
    (labelled: CheckedView) => goOn(labelled),
    // @ts-expect-error a salvaged view cannot be called whole by hand
    () => goOn({ kind: 'whole', view }),
    // @ts-expect-error a health that may be anything gives a view that may be salvaged
    (health: SessionHealth) => goOn(checkedView(view, health)),
    // @ts-expect-error a bare view carries no label at all
    () => goOn(view),
  ];
  expect(refusals).toHaveLength(4);
  expect(goOn(checkedView(view, { kind: 'healthy' }))).toBe('whole');
});
