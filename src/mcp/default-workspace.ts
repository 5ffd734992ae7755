/** Where a call may come from. */
export type WorkspaceHints = {
  /** What the call says. */
  readonly argument?: string | undefined;
  /** The root that the client told. */
  readonly root?: string | undefined;
  readonly workingDir: string;
  readonly homeDir: string;
};

/**
 * The folder that the work is about. A program started from nowhere in particular stands in the home folder or at the
 * top of the disk; taking that for a workspace would read the workflows of no one.
 */
export function defaultWorkspace({ argument, root, workingDir, homeDir }: WorkspaceHints): string | undefined {
  const told = [argument, root].find((path) => path !== undefined && path.trim() !== '');
  if (told !== undefined) return told;
  const dir = bare(workingDir);
  return dir === '' || dir === bare(homeDir) ? undefined : workingDir;
}

/** Without slashes at the end, and without the letter of a disk where that is all there is. */
function bare(path: string): string {
  return path.replace(/[\\/]+$/, '').replace(/^[A-Za-z]:$/, '');
}
