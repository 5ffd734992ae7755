import { ok } from 'neverthrow';
import type { PinnedWorkflows } from '../../../app/ports/pinned-workflows.ts';
import type { WorkflowHash } from '../../../core/log/ids.ts';
import {
  type CompiledWorkflow,
  parseCompiledWorkflow,
  sealWorkflow,
} from '../../../core/workflow/compiled/compiled-workflow.ts';
import { boundedCache } from '../../bounded-cache.ts';
import { accessing, ensureDir } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import { putContent, readContent } from './content-store.ts';
import { parseStored } from './parse-stored.ts';

const WORKFLOWS_KEPT = 64;

export function filePinnedWorkflows({ disk, sha256 }: FileStoreParts): PinnedWorkflows {
  const kept = boundedCache<WorkflowHash, CompiledWorkflow>(WORKFLOWS_KEPT);
  return {
    pin: async (workflow) => {
      const { hash, bytes } = sealWorkflow(workflow, sha256);
      const path = layout.pinnedWorkflow(hash);
      const pinned = await accessing('pin workflow', path, async () => {
        await ensureDir(disk, layout.pinnedWorkflows);
        await putContent(disk, { path, digest: hash }, bytes);
      });
      return pinned.map(() => {
        kept.set(hash, workflow);
        return hash;
      });
    },
    get: async (hash) => {
      const known = kept.get(hash);
      if (known !== undefined) return ok(known);
      const path = layout.pinnedWorkflow(hash);
      return readContent(disk, path, hash)
        .andThen((bytes) => parseStored(path, bytes, parseCompiledWorkflow))
        .map((workflow) => {
          kept.set(hash, workflow);
          return workflow;
        });
    },
  };
}
