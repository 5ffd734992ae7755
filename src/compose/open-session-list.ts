import { fileStoreParts } from '../adapters/file-store/file-store-parts.ts';
import { fileSessionIndex } from '../adapters/file-store/index/file-session-index.ts';
import { nodeHasher, systemClock } from '../adapters/system.ts';
import { gitObserver } from '../adapters/workspace.ts';
import type { SessionListAccess } from '../cli/program.ts';

/** What listing sessions needs: the index without the store, which takes longer to load than the listing itself. */
export function openSessionList(root: string): SessionListAccess {
  const parts = fileStoreParts(root, nodeHasher.sha256);
  return {
    sessionIndex: fileSessionIndex(parts, async () => {
      const [{ entryMakers }, { filePinnedWorkflows, fileSnapshots }] = await Promise.all([
        import('../adapters/file-store/index/entry-makers.ts'),
        import('../adapters/file-store/content/file-content-stores.ts'),
      ]);
      const pinnedWorkflows = filePinnedWorkflows(parts);
      return entryMakers(parts, { snapshots: fileSnapshots(parts, pinnedWorkflows), pinnedWorkflows });
    }),
    workspace: gitObserver(nodeHasher),
    clock: systemClock,
    folder: process.cwd(),
    columns: () => process.stdout.columns,
  };
}
