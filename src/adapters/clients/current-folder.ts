/** The folder that the program was started in; '' if it was removed since: then there is no workspace. */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
