import type { ArtifactStore } from '../../../app/ports/artifact-store.ts';
import type { Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import { readContent } from './content-store.ts';

/** Artifacts are read when somebody looks at them, which is seldom: none is kept in memory. */
export function fileArtifacts(disk: Disk): ArtifactStore {
  return { get: async (digest) => readContent(disk, layout.artifact(digest), digest) };
}
