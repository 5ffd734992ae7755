import type { TreeStepData } from '../../../../shapes/session/look/session-tree-shape.ts';

/** Steps in a row: outside of loops, in the round of a loop that is shown, or rounds that are told together. */
export type Chunk =
  | { readonly kind: 'steps'; readonly steps: readonly TreeStepData[]; readonly depth: number }
  | {
      readonly kind: 'rounds';
      readonly steps: readonly TreeStepData[];
      readonly loopId: string;
      readonly from: number;
      readonly to: number;
    };

/** Of a loop that went round more than twice only the last round is shown step by step, unless all is wanted. */
export function chunksOf(steps: readonly TreeStepData[], isWhole: boolean): readonly Chunk[] {
  return inRows(steps, outerLoop).flatMap((row): readonly Chunk[] => {
    const loopId = outerLoop(row[0]);
    if (loopId === undefined) return row.map((step) => ({ kind: 'steps', steps: [step], depth: 0 }));
    const rounds = inRows(row, outerRound);
    const told = isWhole || rounds.length <= ROUNDS_SHOWN ? 0 : rounds.length - 1;
    const hidden = rounds.slice(0, told).flat();
    return [
      ...(told > 0
        ? [
            {
              kind: 'rounds',
              steps: hidden,
              loopId,
              from: outerRound(hidden[0]) ?? 1,
              to: outerRound(hidden.at(-1)) ?? told,
            } as const,
          ]
        : []),
      ...rounds
        .slice(told)
        .flat()
        .map((step): Chunk => ({ kind: 'steps', steps: [step], depth: 1 })),
    ];
  });
}

const ROUNDS_SHOWN = 2;

/** Neighbours with the same key together. */
function inRows<Key>(
  steps: readonly TreeStepData[],
  keyOf: (step: TreeStepData | undefined) => Key,
): readonly (readonly TreeStepData[])[] {
  const rows: TreeStepData[][] = [];
  for (const step of steps) {
    const open = rows.at(-1);
    if (open !== undefined && keyOf(open[0]) === keyOf(step)) open.push(step);
    else rows.push([step]);
  }
  return rows;
}

function outerLoop(step: TreeStepData | undefined): string | undefined {
  return step?.place.kind === 'step' ? step.place.rounds?.[0]?.loopId : undefined;
}

function outerRound(step: TreeStepData | undefined): number | undefined {
  return step?.place.kind === 'step' ? step.place.rounds?.[0]?.round : undefined;
}
