/** What an argument can be told to be, and what was found in its place. */
export type ShapeName =
  | 'text'
  | 'token'
  | 'list of texts'
  | 'object'
  | 'list of objects'
  | 'number'
  | 'boolean'
  | 'list';

/** What is wrong with an argument, as facts. `name` is what the agent wrote, with the group it stands in. */
export type ArgumentProblem =
  /** `meant` is the argument it was taken for; without one it is left out. */
  | { readonly kind: 'unknown'; readonly name: string; readonly meant?: string }
  | { readonly kind: 'missing'; readonly name: string }
  /** Two spellings of one argument that say different things. */
  | { readonly kind: 'twice'; readonly name: string; readonly meant: string }
  | {
      readonly kind: 'wrong_shape';
      readonly name: string;
      readonly wanted: ShapeName;
      readonly found: ShapeName;
      readonly isMended: boolean;
    }
  /** What belongs into a field of it was sent in its own place. */
  | { readonly kind: 'misplaced'; readonly name: string; readonly meant: string }
  /** It begins like JSON and is none. */
  | { readonly kind: 'broken_json'; readonly name: string }
  | {
      readonly kind: 'no_choice';
      readonly name: string;
      readonly found: string;
      readonly values: readonly string[];
      readonly meant?: string;
    }
  | { readonly kind: 'words_around_token'; readonly name: string };

/** Whether what was meant is known, so that the corrected call can be given. */
export function isMended(problem: ArgumentProblem): boolean {
  switch (problem.kind) {
    case 'unknown':
    case 'misplaced':
    case 'words_around_token':
      return true;
    case 'wrong_shape':
      return problem.isMended;
    case 'no_choice':
      return problem.meant !== undefined;
    default:
      return false;
  }
}
