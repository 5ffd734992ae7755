import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ListedWorkflow } from '../../../src/app/catalog/catalog.ts';
import type { Services } from '../../../src/app/services.ts';
import { type CompiledWorkflow, parseCompiledWorkflow } from '../../../src/core/workflow/compiled/compiled-workflow.ts';
import { sealWorkflow } from '../../../src/core/workflow/compiled/sealed-workflow.ts';
import { enforces } from '../../enforces.ts';
import { sha256 } from '../../examples/sha256.ts';
import { walkToEnd } from '../../simulation/agent/walk/walk-to-end.ts';
import { memoryWorld } from '../../simulation/agent/world/memory-world.ts';

/**
 * Workflows as an earlier compiler pinned them. The files are never edited: runs that were started from such content
 * exist, and every later version must be able to continue them.
 */
const FOLDER = new URL('./pinned/', import.meta.url);
const HASHES: { readonly [name: string]: string } = JSON.parse(readFileSync(new URL('hashes.json', FOLDER), 'utf8'));
const NAMES = readdirSync(FOLDER).filter((name) => name !== 'hashes.json');

const stored = (name: string) => readFileSync(new URL(name, FOLDER));
const load = (name: string) => parseCompiledWorkflow(JSON.parse(stored(name).toString('utf8')))._unsafeUnwrap();

it('every pinned workflow has a recorded hash', () => {
  expect(NAMES).toEqual(Object.keys(HASHES));
  expect(NAMES).toHaveLength(20);
});

describe.each(NAMES)('the pinned workflow %s', (name) => {
  it('loads and hashes to itself', () => {
    enforces('compiled_snapshot_versioned', 'workflow_hash_definition');
    const { hash, bytes } = sealWorkflow(load(name), sha256);
    expect(hash).toBe(HASHES[name]);
    expect(Buffer.from(bytes).equals(stored(name))).toBe(true);
  });

  it.each(['guided', 'full_auto_never_stop'])(
    'can be started, rehydrated and walked to the end in %s mode',
    async (mode) => {
      const workflow = load(name);
      const world = memoryWorld([], { catalog: catalogWith(workflow) });
      const chat = await world.newChat();
      const start = { tool: 'start_workflow', arguments: { workflowId: workflow.workflowId, goal: 'Try it.', mode } };
      const started = await chat.call(start);
      const { stateToken } = started.structuredContent as { readonly stateToken: string };
      const rehydrate = { tool: 'continue_workflow', arguments: { stateToken } };
      const walked = await walkToEnd((call) => chat.call(call), rehydrate, {
        sight: 'data',
        callsMax: 400,
        services: world.services,
      });
      await chat.close();
      expect(walked.isComplete, walked.path.slice(-6).join('\n')).toBe(true);
      const [pinned] = [...world.log().values()].flat().filter(({ kind }) => kind === 'run_started');
      expect(pinned).toMatchObject({ data: { workflowHash: HASHES[name] } });
    },
  );
});

/** A catalog with one workflow that nothing has to compile. */
function catalogWith(workflow: CompiledWorkflow): Services['catalog'] {
  const { workflowId: id, name, description } = workflow;
  const content = { kind: 'text', text: '{}' } as const;
  const listed: ListedWorkflow = {
    id,
    kind: 'workflow',
    name,
    description,
    tags: [],
    idStatus: id.includes('.') ? 'namespaced' : 'legacy',
    capabilities: [],
    aliases: [],
    sourceKind: 'project',
    file: { kind: 'project', ref: 'pinned.json', path: '/project/pinned.json', rank: 1, isInRoutines: false, content },
    shadows: [],
    warnings: [],
    workflow,
    origin: { text: '{}', routines: new Map(), slotIds: [], bindings: {} },
    sourceHash: () => sha256(new Uint8Array() as never),
  };
  return {
    list: async () => ({ workflows: [listed], invalid: [] }),
    find: async () => ({ found: { kind: 'found', listed } }),
    isUnchanged: async () => false,
  };
}
