import type { Clock } from '../app/ports/clock.ts';

export const systemClock: Clock = { nowMs: () => Date.now() };
