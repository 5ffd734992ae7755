/** One row of the table: a figure, its budget, and whether it passes. */
export type Row = {
  readonly metric: string;
  readonly figure: string;
  readonly budget: string;
  /** The figure as a fraction of its budget. */
  readonly ratio: string;
  readonly verdict: 'pass' | 'FAIL' | '';
};

export function budgeted(metric: string, figure: number, budget: { readonly max: number; readonly unit: string }): Row {
  const { max, unit } = budget;
  return {
    metric,
    figure: shown(figure, unit),
    budget: `<= ${shown(max, unit)}`,
    ratio: (figure / max).toFixed(2),
    verdict: figure <= max ? 'pass' : 'FAIL',
  };
}

/** A figure without a budget of its own. */
export function noted(metric: string, figure: number, unit: string): Row {
  return { metric, figure: shown(figure, unit), budget: '', ratio: '', verdict: '' };
}

export function median(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? Number.NaN;
}

/** Wall-clock and processor milliseconds of some work, and its result. */
export async function timed<Value>(
  work: () => Value | Promise<Value>,
): Promise<{ readonly wallMs: number; readonly cpuMs: number; readonly value: Value }> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const value = await work();
  const wallMs = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1_000, value };
}

function shown(figure: number, unit: string): string {
  return `${figure < 10 ? figure.toFixed(2) : figure.toFixed(0)} ${unit}`;
}
