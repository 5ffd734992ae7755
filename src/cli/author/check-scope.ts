import type { TargetScope } from '../../app/bench/files/scope.ts';
import { pathFrom } from '../commands/workflow/short-path.ts';
import type { Line } from '../output/line.ts';

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
