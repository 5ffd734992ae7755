import { unreachable } from '../assert.ts';
import { quote } from '../json/quote.ts';

/** Why the folder that a call is about was not looked at. */
export type WorkspaceProblem = {
  readonly path: string;
  readonly reason:
    | { readonly code: 'not_absolute' | 'not_there' | 'not_a_folder' }
    | { readonly code: 'io_failed'; readonly cause: string };
};

/** Why the project's own workflows are not there, and which are. */
export function explainWorkspace({ path, reason }: WorkspaceProblem): string {
  return `workspacePath was not used: ${wordsFor(quote(path), reason)} Only the bundled workflows and the user's own were looked at.`;
}

function wordsFor(path: string, reason: WorkspaceProblem['reason']): string {
  switch (reason.code) {
    case 'not_absolute':
      return `${path} is not an absolute path. Send the whole path of the project folder.`;
    case 'not_there':
      return `there is no folder ${path}.`;
    case 'not_a_folder':
      return `${path} is not a folder.`;
    case 'io_failed':
      return `looking at ${path} failed with ${reason.cause}.`;
    default:
      return unreachable(reason);
  }
}
