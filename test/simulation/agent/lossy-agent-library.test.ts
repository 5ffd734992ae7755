import { expect, it } from 'vitest';
import { answerAsPerson } from '../../../src/app/author/rehearsal.ts';
import { enforces } from '../../enforces.ts';
import { isLong } from '../../volume.ts';
import { FAULTS } from './faults/all-faults.ts';
import { simulate } from './play/simulate.ts';
import { TIMEOUT_MS } from './play/volume.ts';
import { memoryWorld } from './world/memory-world.ts';
import { COMMON_FILES } from './world/workflow-files.ts';
import type { World } from './world/world.ts';

const FAULTY_CALLS = Number(process.env['WORKRAIL_LIBRARY_CALLS'] ?? (isLong ? 50_000 : 120));

/** It asks for the small workflows, which are not in this world. */
const faults = FAULTS.filter(({ name }) => name !== 'unknown workflow');

const LIBRARY = COMMON_FILES.filter(({ kind, isInRoutines }) => kind === 'bundled' && !isInRoutines).map(({ ref }) =>
  ref.replace(/\.json$/, ''),
);

it(
  'an agent that gets nearly everything wrong is led to the end of every bundled workflow',
  async () => {
    enforces('simulator_obedient_reader_recovers', 'order_violations_never_accepted');
    expect(LIBRARY).toContain('wr.coding_task');
    const { violations } = await simulate({
      name: 'lossy agent, library',
      sight: 'data',
      faults,
      faultyCalls: FAULTY_CALLS,
      callsPerWorld: 200,
      newWorld: (seed) => withPerson({ ...memoryWorld([], { seed }), workflowIds: LIBRARY }),
    });
    expect(violations).toEqual([]);
  },
  TIMEOUT_MS,
);

/** The same world with a person beside the agent, who answers whatever waits for one. */
function withPerson(world: World): World {
  return {
    ...world,
    newChat: async () => {
      const chat = await world.newChat();
      return {
        ...chat,
        call: async (call) => {
          const reply = await chat.call(call);
          const { kind, stateToken } = (reply.structuredContent ?? {}) as { kind?: string; stateToken?: string };
          if (kind === 'blocked' && stateToken !== undefined)
            await answerAsPerson(world.services, stateToken, 'approve');
          return reply;
        },
      };
    },
  };
}
