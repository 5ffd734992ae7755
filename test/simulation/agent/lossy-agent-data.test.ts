import { expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { isLong } from '../../volume.ts';
import { FAULTS } from './faults/all-faults.ts';
import { simulate } from './play/simulate.ts';
import { FAULTY_CALLS, TIMEOUT_MS } from './play/volume.ts';
import { memoryWorld } from './world/memory-world.ts';
import { SMALL_FILES } from './world/small-workflows.ts';

it(
  'an agent that sees only the data of replies and gets nearly everything wrong is never let past a step, and is always led back',
  async () => {
    enforces('simulator_obedient_reader_recovers', 'order_violations_never_accepted', 'replay_never_advances_twice');
    const { violations, weakClasses, fixed, tally } = await simulate({
      name: 'lossy agent',
      sight: 'data',
      faults: FAULTS,
      faultyCalls: FAULTY_CALLS,
      callsPerWorld: 200,
      newWorld: (seed) => memoryWorld(SMALL_FILES, { seed }),
    });
    expect(violations).toEqual([]);
    expect(weakClasses).toEqual([]);
    expect(fixed).toBeGreaterThanOrEqual(0.99);
    // A small sample may miss a rare kind of fault; the long check has all of them.
    expect(tally.size).toBeGreaterThanOrEqual(isLong ? FAULTS.length : FAULTS.length - 2);
  },
  TIMEOUT_MS,
);
