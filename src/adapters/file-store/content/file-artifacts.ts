import type { ArtifactStore } from '../../../app/ports/content-stores.ts';
import { jsonObjectSchema } from '../../../core/log/field-schemas.ts';
import { parseDocument } from '../../../core/log/parse-document.ts';
import type { Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import { readContent } from './content-files.ts';
import { parseStored } from './parse-stored.ts';

/** Artifacts are read when somebody looks at them, which is seldom: none is kept in memory. */
export function fileArtifacts(disk: Disk): ArtifactStore {
  return {
    get: async (digest) => readContent(disk, layout.artifact(digest), digest),
    getJson: async (digest) => {
      const path = layout.artifact(digest);
      return readContent(disk, path, digest).andThen((bytes) =>
        parseStored(path, bytes, (value) => parseDocument(jsonObjectSchema, value)).map((value) => ({ value, bytes })),
      );
    },
  };
}
