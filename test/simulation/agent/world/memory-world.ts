import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { ok } from 'neverthrow';
import { memoryStore } from '../../../../src/adapters/memory-store/memory-store.ts';
import { nodeHasher } from '../../../../src/adapters/system.ts';
import type { Store } from '../../../../src/app/ports/store.ts';
import type { WorkflowFile } from '../../../../src/app/ports/workflow-sources.ts';
import type { Services } from '../../../../src/app/services.ts';
import type { SessionEvent } from '../../../../src/core/log/event.ts';
import { ID_BYTES, RunId, SessionId } from '../../../../src/core/log/ids.ts';
import { signingKey } from '../../../../src/core/token/keyring.ts';
import { mcpBackend, mcpServer } from '../../../../src/mcp/server.ts';
import { type SeededRandom, seededRandom } from '../../seeded-random.ts';
import type { Reply } from '../reader/obedient-reader.ts';
import { servicesOver } from './services-over.ts';
import type { Chat, World } from './world.ts';

export type Nature = {
  /** Decides ids and keys, so that the same play in the same world is the same to the last character. */
  readonly seed?: number;
  readonly tokenForm?: Services['tokenForm'];
  /** Replaces the store in memory; its keys are replaced by seeded ones. */
  readonly store?: Store | undefined;
  /** Replaces the catalog over the files. */
  readonly catalog?: Services['catalog'];
};

/** A world without a disk: real servers and clients in one process, over a store that ends with it. */
export function memoryWorld(
  files: readonly WorkflowFile[],
  { seed = 1, tokenForm = 'compact', store = memoryStore(nodeHasher.sha256), catalog }: Nature = {},
): World {
  const log = new Map<string, SessionEvent[]>();
  const chance = seededRandom(seed);
  const witnessedStore = { ...store, sessions: witnessed(store.sessions, log), keyring: seededKeyring(chance) };
  const over = servicesOver(witnessedStore, files);
  const services = { ...over, catalog: catalog ?? over.catalog, ids: seededIds(chance), tokenForm };
  return { services, log: () => log, newChat: () => newChat(services) };
}

function seededIds(chance: SeededRandom): Services['ids'] {
  return { session: () => SessionId.of(bytes(chance, ID_BYTES)), run: () => RunId.of(bytes(chance, ID_BYTES)) };
}

function seededKeyring(chance: SeededRandom): Services['keyring'] {
  const keyring = { current: signingKey(bytes(chance, 32)) };
  return {
    find: async () => ok(keyring),
    open: async () => ok(keyring),
    adopt: async () => ok(false),
    rotate: async () => ok(keyring),
    repair: async () => ok(undefined),
  };
}

function bytes(chance: SeededRandom, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => chance.below(256));
}

async function newChat(services: Services): Promise<Chat> {
  const server = mcpServer(mcpBackend({ version: '0', services: async () => services, isLogged: false }));
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs);
  const client = new Client({ name: 'lossy-agent', version: '0' });
  await client.connect(ours);
  const call: Chat['call'] = async ({ tool, arguments: given }) =>
    (await client.callTool({ name: tool, arguments: { ...given } })) as Reply;
  return {
    call,
    killDuring: async (lost) => {
      await call(lost);
      await client.close();
    },
    close: () => client.close(),
  };
}

/** The same store, with everything that is appended written down once more. A plan that is known adds nothing. */
function witnessed(sessions: Store['sessions'], log: Map<string, SessionEvent[]>): Store['sessions'] {
  return {
    ...sessions,
    append: async (permit, plan) => {
      const appended = await sessions.append(permit, plan);
      if (appended.isErr()) return appended;
      const events = log.get(plan.sessionId) ?? [];
      log.set(plan.sessionId, events);
      const { nextEventIndex } = appended.value.view;
      const from = events.length;
      events.push(...plan.events.filter(({ eventIndex }) => eventIndex >= from && eventIndex < nextEventIndex));
      return appended;
    },
  };
}
