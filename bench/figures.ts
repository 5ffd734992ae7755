import { timed } from './row.ts';

/** The measurements of one kind of work, per round. */
export type Figures = { readonly wall: number[]; readonly cpu: number[] };

export function noFigures(): Figures {
  return { wall: [], cpu: [] };
}

/** Repeats the work and records its cost. */
export async function measure<Value>(figures: Figures, work: () => Promise<Value>): Promise<Value> {
  const { wallMs, cpuMs, value } = await timed(work);
  figures.wall.push(wallMs);
  figures.cpu.push(cpuMs);
  return value;
}
