import { expect, test } from 'vitest';
import { enforces } from '../../enforces.ts';
import { EMPTY_DISK } from '../disk/simulated-disk.ts';
import { crashExplorer, type Finding, type Tampering } from './crash-explorer.ts';
import { NO_PROGRESS } from './progress.ts';
import { PROTOCOL_MUTANTS } from './protocol-mutants.ts';

const BOUNDS = { fullMax: 64, pairsMax: 16, seed: 20 };
const APPENDS = 5;

test.each(Object.entries(PROTOCOL_MUTANTS))('it is noticed when %s', async (what, tampering) => {
  enforces('crash_mutants_caught');
  const caught = await firstFinding(tampering);
  console.log(caught === undefined ? `SURVIVED: ${what}` : `${what}: ${caught.violation}; crash after ${caught.at}`);
  expect(caught).toBeDefined();
});

async function firstFinding(tampering: Tampering): Promise<Finding | undefined> {
  const explorer = crashExplorer(tampering);
  const points = await explorer.record({ state: EMPTY_DISK, acknowledged: NO_PROGRESS }, { appends: APPENDS });
  for (const point of points) {
    await explorer.explore(point, BOUNDS);
    if (explorer.findings[0] !== undefined) return explorer.findings[0];
  }
  return undefined;
}
