import { timed } from './row.ts';

/** What was measured of one kind of work, round after round. */
export type Figures = { readonly wall: number[]; readonly cpu: number[] };

export function noFigures(): Figures {
  return { wall: [], cpu: [] };
}

/** Does some work once more and writes down what it took. */
export async function measure<Value>(figures: Figures, work: () => Promise<Value>): Promise<Value> {
  const { wallMs, cpuMs, value } = await timed(work);
  figures.wall.push(wallMs);
  figures.cpu.push(cpuMs);
  return value;
}
