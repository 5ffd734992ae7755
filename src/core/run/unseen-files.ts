import { unreachable } from '../assert.ts';
import { isObject, type JsonObject, quote } from '../json/json-value.ts';
import { clip } from '../text/utf8.ts';
import { visibleLine } from '../text/visible-text.ts';

const CAUSES = [
  'timed_out',
  /** The folder of the run was in a repository, and is not in one now. */
  'repository_gone',
  /** The folder of the run is not in the repository whose files would be listed, or not any more. */
  'folder_elsewhere',
  'no_repository',
  'no_commit',
  'name_not_text',
  'file_unreadable',
  'too_many_files',
  'git_failed',
] as const;

/** Why git cannot list the files of the workspace. */
export type UnseenFiles = {
  readonly unseen: (typeof CAUSES)[number];
  /** The file that it is about, or a repository inside of the one that was asked about. */
  readonly path?: string;
  /** What git or the system said. */
  readonly said?: string;
};

/** Git did not answer in time. */
export const GIT_SILENT: UnseenFiles = { unseen: 'timed_out' };
/** A block has room for 4 KiB of details, and a line of a terminal for less. */
const TEXT_BYTES_MAX = 160;

/** This is the cause for a record, with its texts cut to the room that a record has. */
export function unseenFiles(
  unseen: UnseenFiles['unseen'],
  { path, said }: { readonly path?: string | undefined; readonly said?: string | undefined } = {},
): UnseenFiles {
  return {
    unseen,
    ...(path === undefined ? {} : { path: clip(path, TEXT_BYTES_MAX) }),
    ...(said === undefined ? {} : { said: clip(said, TEXT_BYTES_MAX) }),
  };
}

/** This reads a cause that was recorded, or that another machine described. Either may contain anything. */
export function unseenIn(value: unknown): UnseenFiles | undefined {
  if (!isObject(value)) return undefined;
  const { unseen, path, said } = value as JsonObject;
  const code = CAUSES.find((one) => one === unseen);
  const text = (one: unknown) => (typeof one === 'string' ? one : undefined);
  return code && unseenFiles(code, { path: text(path), said: text(said) });
}

/** This is the cause as a clause, which can follow "because". */
export function unseenCause({ unseen, path, said }: UnseenFiles): string {
  switch (unseen) {
    case 'timed_out':
      return 'git did not answer in time';
    case 'repository_gone':
      return "the run's folder is no longer in a git repository";
    case 'folder_elsewhere':
      return "the run's folder is in another place than the repository of its session, or was moved meanwhile";
    case 'no_repository':
      return 'the folder is not in a git repository';
    case 'no_commit':
      return `the repository${named(path)} has no commit yet`;
    case 'name_not_text':
      return `the name of the file${named(path)} is not UTF-8`;
    case 'file_unreadable':
      return `the file${named(path)} cannot be read${said === undefined ? '' : ` (${visibleLine(said)})`}`;
    case 'too_many_files':
      return `git lists more files${path === undefined ? '' : ` in${named(path)}`} than can be compared`;
    case 'git_failed':
      return `git failed${path === undefined ? '' : ` in${named(path)}`}${said === undefined ? '' : ` (${visibleLine(said)})`}`;
    default:
      return unreachable(unseen);
  }
}

/** This is the same clause with a capital, which can begin a sentence. */
export function unseenSentence(files: UnseenFiles): string {
  const cause = unseenCause(files);
  return `${cause.charAt(0).toUpperCase()}${cause.slice(1)}`;
}

/** These sentences say what the reader must do so that git can list the files again. */
export function unseenFix({ unseen, path }: UnseenFiles): string {
  switch (unseen) {
    case 'timed_out':
      return 'Wait until the machine is less busy.';
    case 'repository_gone':
      return 'Put the repository (the folder ".git") back. If it is gone for good, start the workflow again.';
    case 'folder_elsewhere':
      return 'Put the folder back where it was when the run started, or start the workflow again in the repository.';
    case 'no_repository':
      return 'To have them recorded, run `git init` there and commit the files.';
    case 'no_commit':
      return `Make a first commit${path === undefined ? '' : ` in${named(path)}`}.`;
    case 'name_not_text':
      return `Rename the file${named(path)}.`;
    case 'file_unreadable':
      return `Make the file${named(path)} readable, and do not change files while WorkRail reads them.`;
    case 'too_many_files':
      return 'Add the files that are not part of the work to `.gitignore`.';
    case 'git_failed':
      return `Run \`git status\` in ${path === undefined ? 'the folder of the run' : quote(visibleLine(path))}, and fix what it reports.`;
    default:
      return unreachable(unseen);
  }
}

function named(path: string | undefined): string {
  return path === undefined ? '' : ` ${quote(visibleLine(path))}`;
}
