import { join } from 'node:path';
import {
  append,
  freshStore,
  type GrowingSession,
  growingSession,
  hastyStore,
  inFolder,
  pinWorkflow,
} from './bench-store.ts';
import { type Figures, measure, noFigures } from './figures.ts';
import { floor } from './floor.ts';
import { budgeted, median, noted, type Row } from './row.ts';

const SHORT_STEPS = 10;
const LONG_STEPS = 1_000;
/** Each short session grows by ten while it is measured, so that they stay short. */
const SHORT_SESSIONS = 30;
const ROUNDS = 300;

const CPU_MS_MAX = 4;
/**
 * The store's share besides the bare file operations; the rest is the engine's. Only the difference is meaningful:
 * creating a file takes 20 to 700 microseconds, depending on disk and hour.
 */
const OWN_CPU_MS_MAX = 2;
const FLOORS_MAX = 3;
const WALL_MS_EXTRA = 2;
const GROWTH_MAX = 1.3;

/** Warm appends early and late in a session, each round beside the bare file operations. */
export async function benchAppend(): Promise<readonly Row[]> {
  return inFolder(async (root) => {
    const data = join(root, 'data');
    const short = Array.from({ length: SHORT_SESSIONS }, (_, i) => growingSession(i + 1));
    const long = growingSession(SHORT_SESSIONS + 1);
    const filling = hastyStore(data);
    await pinWorkflow(filling);
    const hasty = filling.sessions;
    for (const session of short) await grow(hasty, session, SHORT_STEPS);
    await grow(hasty, long, LONG_STEPS);

    const { sessions } = freshStore(data);
    for (const { sessionId } of [...short, long]) await sessions.load(sessionId);
    const figures = { floor: noFigures(), short: noFigures(), long: noFigures() };
    const bare = await floor(join(root, 'floor'));
    for (let i = 0; i < ROUNDS; i++) {
      const plan = short[i % SHORT_SESSIONS]?.step();
      const longPlan = long.step();
      await measure(figures.floor, bare.once);
      if (plan !== undefined) await measure(figures.short, () => append(sessions, plan));
      await measure(figures.long, () => append(sessions, longPlan));
    }
    await bare.close();
    return rowsOf(figures);
  });
}

async function grow(sessions: ReturnType<typeof hastyStore>['sessions'], session: GrowingSession, steps: number) {
  for (let i = 0; i < steps; i++) await append(sessions, session.step());
}

function rowsOf({ floor, short, long }: { readonly [name in 'floor' | 'short' | 'long']: Figures }): readonly Row[] {
  const bare = median(floor.wall);
  const wall = { max: FLOORS_MAX * bare + WALL_MS_EXTRA, unit: 'ms' };
  const cpu = { max: CPU_MS_MAX, unit: 'ms' };
  const ownCpu = long.cpu.map((cpuMs, i) => cpuMs - (floor.cpu[i] ?? 0));
  return [
    noted('floor, wall', bare, 'ms'),
    noted('floor, CPU', median(floor.cpu), 'ms'),
    budgeted(`append at step ${SHORT_STEPS}, wall`, median(short.wall), wall),
    budgeted(`append at step ${LONG_STEPS}, wall`, median(long.wall), wall),
    noted(`append at step ${LONG_STEPS}, in floors`, median(long.wall) / bare, 'x'),
    budgeted(`append at step ${SHORT_STEPS}, CPU`, median(short.cpu), cpu),
    budgeted(`append at step ${LONG_STEPS}, CPU`, median(long.cpu), cpu),
    budgeted(`append at step ${LONG_STEPS}, CPU beside the floor`, median(ownCpu), { max: OWN_CPU_MS_MAX, unit: 'ms' }),
    budgeted('append, late over early', median(long.wall) / median(short.wall), { max: GROWTH_MAX, unit: 'x' }),
  ];
}
