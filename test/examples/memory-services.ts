import { readFileSync } from 'node:fs';
import { memoryStore } from '../../src/adapters/memory-store/memory-store.ts';
import { nodeHasher } from '../../src/adapters/node-hasher.ts';
import { randomIds } from '../../src/adapters/random-ids.ts';
import type { WorkflowFile } from '../../src/app/ports/workflow-source.ts';
import type { Services } from '../../src/app/services.ts';

const source = readFileSync(new URL('../../workflows/wr.first_steps.json', import.meta.url), 'utf8');
const file: WorkflowFile = { kind: 'bundled', ref: 'wr.first_steps.json', content: JSON.parse(source) };
const clock = { nowMs: () => 1_700_000_000_000 };

/** Everything a use case needs, with one bundled workflow, a clock that stands and nothing on the disk. */
export function memoryServices(): Services {
  return {
    ...memoryStore(nodeHasher.sha256),
    workflows: { files: async () => [file] },
    hasher: nodeHasher,
    clock,
    ids: randomIds(clock),
    tokenForm: 'compact',
  };
}
