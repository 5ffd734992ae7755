import type { MarkStore } from '../../app/ports/session-marks.ts';
import type { Store } from '../../app/services.ts';
import type { Sha256 } from '../../core/json/canonical-bytes.ts';
import { emptyContent, memoryArtifacts, memoryPinnedWorkflows, memorySnapshots } from './memory-content.ts';
import { memoryKeyring } from './memory-keyring.ts';
import { memorySessionIndex } from './memory-session-index.ts';
import { memorySessionMarks } from './memory-session-marks.ts';
import { memorySessionStore } from './memory-session-store.ts';

/** A store that ends with the process, for rehearsals and tests: it keeps every rule of a durable one but durability. */
export function memoryStore(sha256: Sha256): Store & { readonly marks: MarkStore } {
  const content = emptyContent();
  const { logs, ...sessions } = memorySessionStore(content, sha256);
  const snapshots = memorySnapshots(content);
  return {
    sessions,
    logs,
    sessionIndex: memorySessionIndex(sessions, snapshots),
    marks: memorySessionMarks(sessions),
    snapshots,
    artifacts: memoryArtifacts(content),
    pinnedWorkflows: memoryPinnedWorkflows(content, sha256),
    keyring: memoryKeyring(),
  };
}
