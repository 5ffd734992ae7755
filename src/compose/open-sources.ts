import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileSourceList } from '../adapters/sources/file-source-list.ts';
import { gitCopies } from '../adapters/sources/git-copies.ts';
import { fileProjectSources } from '../adapters/sources/project-sources.ts';
import { sourceInspector } from '../adapters/sources/source-folders.ts';
import { sourcePlaces } from '../adapters/sources/workflow-files.ts';
import { systemClock } from '../adapters/system.ts';
import type { SourceServices } from '../app/ports/workflow-sources.ts';

/** What managing sources needs. */
export function openSources(): SourceServices {
  const own = join(homedir(), '.workrail');
  const { list, copies } = sourcePlaces(own);
  const resolvePath = (path: string) => resolve(path);
  return {
    list: fileSourceList(list),
    copies: gitCopies(copies),
    inspector: sourceInspector(copies),
    resolvePath,
    project: { ...fileProjectSources({ folder: process.cwd(), own, nowMs: systemClock.nowMs }), resolvePath },
  };
}
