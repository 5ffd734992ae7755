import * as z from 'zod';
import type { TargetScope } from '../../app/author/find-targets.ts';
import type { Line } from '../output/line.ts';
import { pathFrom } from './workflow-words.ts';

/** What was looked at, where nobody named it. */
export function scopeLines(
  scope: TargetScope,
  { workspace, verb }: { readonly workspace: string; readonly verb: string },
): readonly Line[] {
  switch (scope.kind) {
    case 'named':
      return [];
    case 'all':
      return [[{ text: `${verb}: every workflow there is, the bundle and all sources included.`, style: 'dim' }]];
    case 'project':
    case 'user': {
      const where = scope.folders.map((folder) => pathFrom(folder, workspace)).join(', ');
      const whose = scope.kind === 'project' ? 'the workflows of this project' : 'your own workflows';
      return [[{ text: `${verb}: ${whose} (${where}); --all takes every workflow there is.`, style: 'dim' }]];
    }
  }
}

/** The folders that were looked into because nobody named anything: of the project, or of the user where there is none. */
export const ownScope = z.strictObject({ kind: z.enum(['project', 'user']), folders: z.array(z.string()).readonly() });
