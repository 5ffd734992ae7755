import { expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { FAULTS } from '../../simulation/agent/faults/all-faults.ts';
import { simulate } from '../../simulation/agent/play/simulate.ts';
import { isLong } from '../../volume.ts';
import { realWorld } from './real-world.ts';

const FAULTY_CALLS = isLong ? 5_000 : 48;
const TIMEOUT_MS = isLong ? 3_600_000 : 300_000;

/** What only real processes and a real disk can show is played more often. */
const REAL = ['server killed and started again', 'two agents on one token', 'reply lost, looks at the step'];
const faults = [...FAULTS, ...Array.from({ length: 6 }, () => FAULTS.filter(({ name }) => REAL.includes(name))).flat()];

it.each(['data', 'text'] as const)(
  'an agent that sees only the %s of replies recovers although the program is killed again and again',
  async (sight) => {
    enforces(
      'simulator_obedient_reader_recovers',
      'order_violations_never_accepted',
      'two_agents_one_token_one_advance',
    );
    const sample = { name: 'lossy agent, real program', sight, faults, callsPerWorld: 150, newWorld: realWorld };
    const { violations, fixed } = await simulate({ ...sample, faultyCalls: FAULTY_CALLS / 2 });
    expect(violations).toEqual([]);
    // One call that needs a second correction weighs 4 % of the calls of a check.
    expect(fixed).toBeGreaterThanOrEqual(isLong ? 0.97 : 0.9);
  },
  TIMEOUT_MS,
);
