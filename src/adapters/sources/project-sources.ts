import { mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { err } from 'neverthrow';
import type { ProjectSources } from '../../app/ports/workflow-sources.ts';
import { isAcceptedSource } from '../../core/sources.ts';
import { isInside } from '../guarded-file.ts';
import { causeOf, putDocument } from './file-source-list.ts';
import { gitCopies } from './git-copies.ts';
import { nodeFolderAccess } from './read-folder.ts';
import { sourceInspector } from './source-folders.ts';
import { askedSources, PROJECT_SOURCES, readAccepted, sourcePlaces } from './workflow-files.ts';

type Place = {
  /** The folder of the project. */
  readonly folder: string;
  /** The user's own folder. */
  readonly own: string;
  readonly nowMs: () => number;
};

/** What a repository asks for, and what people accepted of it. */
export function fileProjectSources({ folder, own, nowMs }: Place): Omit<ProjectSources, 'resolvePath'> {
  const { accepted, projectCopies } = sourcePlaces(own);
  const workspace = realpathSync(folder);
  const file = join(workspace, PROJECT_SOURCES);
  return {
    file,
    workspace,
    list: {
      read: async () => askedSources(workspace, own, nodeFolderAccess),
      write: async (sources) => {
        const cause = troubleWithFolder(dirname(file), workspace);
        if (cause !== undefined) return err({ code: 'source_list_unwritable', file, cause });
        return putDocument(file, { v: 1, sources }, 0o644);
      },
    },
    // Another clone may be pinned to an older commit, so no copy is removed.
    copies: { ...gitCopies(projectCopies), drop: async () => undefined },
    inspector: sourceInspector(projectCopies),
    accepted: async () => readAccepted(accepted),
    accept: async (sources) => {
      const known = readAccepted(accepted);
      const added = sources.filter((source) => !isAcceptedSource(known, workspace, source));
      const names = added.map(({ name }) => name);
      // Of a source that was moved to another commit, only the new one counts.
      const kept = known.filter((one) => one.workspace !== workspace || !names.includes(one.source.name));
      const fresh = added.map((source) => ({ workspace, source, at: nowMs() }));
      return putDocument(accepted, { v: 1, accepted: [...kept, ...fresh] });
    },
  };
}

/** Why a folder of a project cannot be written to. In a clone it may be a link to any place. */
function troubleWithFolder(folder: string, workspace: string): string | undefined {
  try {
    mkdirSync(folder, { recursive: true });
    return isInside(realpathSync(folder), workspace) ? undefined : 'its folder leads out of the project';
  } catch (cause) {
    return causeOf(cause);
  }
}
