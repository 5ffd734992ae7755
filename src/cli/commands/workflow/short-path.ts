/** A path as somebody in a folder would type it. */
export function pathFrom(path: string, folder: string): string {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}
