import type { Clock } from '../app/ports/system.ts';

export const systemClock: Clock = { nowMs: () => Date.now() };
