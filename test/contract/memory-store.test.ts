import { memoryStore } from '../../src/adapters/memory-store/memory-store.ts';
import { sha256 } from '../examples/sha256.ts';
import { storeContract } from './store.contract.ts';

storeContract(() => {
  const store = memoryStore(sha256);
  return { store, again: () => store };
});
