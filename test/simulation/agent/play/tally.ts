/** How the trials of one class of faults ended. */
export type Outcome = 'at once' | 'in one' | 'in two' | 'later' | 'never';

export type Row = {
  /** Wrong calls that were sent, those of stubborn readers included. */
  calls: number;
  trials: number;
  /** Trials in which a reply gave no call, and the reader went back to the last one that did. */
  fromMemory: number;
  /** Trials whose last call was the offered one with its blanks filled in. */
  filledForms: number;
  readonly outcomes: Record<Outcome, number>;
};

export type Tally = ReadonlyMap<string, Row>;

export function newTally(): Map<string, Row> {
  return new Map();
}

export function rowOf(tally: Map<string, Row>, name: string): Row {
  const row = tally.get(name) ?? {
    calls: 0,
    trials: 0,
    fromMemory: 0,
    filledForms: 0,
    outcomes: { 'at once': 0, 'in one': 0, 'in two': 0, later: 0, never: 0 },
  };
  tally.set(name, row);
  return row;
}

export function addTo(sum: Map<string, Row>, tally: Tally): void {
  for (const [name, row] of tally) {
    const whole = rowOf(sum, name);
    whole.calls += row.calls;
    whole.trials += row.trials;
    whole.fromMemory += row.fromMemory;
    whole.filledForms += row.filledForms;
    for (const outcome of Object.keys(row.outcomes) as Outcome[]) whole.outcomes[outcome] += row.outcomes[outcome];
  }
}

/** The share of trials that needed at most one further call. */
export function fixedInOne({ trials, outcomes }: Row): number {
  return trials === 0 ? 1 : (outcomes['at once'] + outcomes['in one']) / trials;
}

export function total(tally: Tally): Row {
  const sum = newTally();
  for (const row of tally.values()) addTo(sum, new Map([['all', row]]));
  return rowOf(sum, 'all');
}

/** Trials that one or more further calls repaired. */
function repairs({ outcomes }: Row): number {
  return outcomes['in one'] + outcomes['in two'] + outcomes.later;
}

/** One line for each class. Of the repairs it says how many were the offered form, filled in. */
export function tallyText(tally: Tally): string {
  const rows = [...tally].sort(([a], [b]) => a.localeCompare(b));
  return [
    [
      'class',
      'calls',
      'trials',
      'at once',
      'in one',
      'in two',
      'later',
      'never',
      'memory',
      'repairs',
      'by form',
      'within one',
    ],
    ...[...rows, ['all', total(tally)] as const].map(([name, row]) => [
      name,
      row.calls,
      row.trials,
      ...Object.values(row.outcomes),
      row.fromMemory,
      repairs(row),
      row.filledForms,
      `${(100 * fixedInOne(row)).toFixed(2)} %`,
    ]),
  ]
    .map(([name, ...cells]) => `${String(name).padEnd(36)}${cells.map((cell) => String(cell).padStart(11)).join('')}`)
    .join('\n');
}
