import { expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { isLong } from '../../volume.ts';
import { FAULTS } from './faults/all-faults.ts';
import { simulate } from './play/simulate.ts';
import { TIMEOUT_MS } from './play/volume.ts';
import { memoryWorld } from './world/memory-world.ts';
import { SMALL_FILES } from './world/small-workflows.ts';

const FAULTY_CALLS = isLong ? 10_000 : 250;

/** A long token is taken exactly as it is or not at all. */
const SHORT_ONLY = ['token respelled', 'token with words around it', 'token miscopied', 'token cut off'];

it(
  'tokens of the long form lead an agent back as well, as long as it copies them',
  async () => {
    enforces('simulator_obedient_reader_recovers', 'order_violations_never_accepted');
    const { violations, fixed } = await simulate({
      name: 'lossy agent, long tokens',
      sight: 'data',
      faults: FAULTS.filter(({ name }) => !SHORT_ONLY.includes(name)),
      faultyCalls: FAULTY_CALLS,
      callsPerWorld: 200,
      newWorld: (seed) => memoryWorld(SMALL_FILES, { seed, tokenForm: 'json' }),
    });
    expect(violations).toEqual([]);
    expect(fixed).toBeGreaterThanOrEqual(0.99);
  },
  TIMEOUT_MS,
);
