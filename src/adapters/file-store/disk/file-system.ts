/** A file that is open for writing. */
export type WritableFile = {
  /** Writes all of it at the end; fewer bytes than given is an error. */
  write(bytes: Uint8Array): Promise<void>;
  /** Returns once what was written is on the disk. */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
};

/**
 * The few operations that all access to the data directory goes through, so that a simulator can stand in for the
 * disk. Reading is synchronous: a thousand awaits cost more than a thousand small reads.
 */
export type FileSystem = {
  /** The content from an offset on; `undefined` when there is no such file. */
  read(path: string, from?: number): Uint8Array | undefined;
  size(path: string): number | undefined;
  /** When a file was last changed, in milliseconds; `undefined` when there is no such file. */
  modifiedMs(path: string): number | undefined;
  /** The permission bits of a file; `undefined` when there is no such file, or where the system has no such bits. */
  mode(path: string): number | undefined;
  /** Names in a directory, sorted; none when it is not there. */
  list(path: string): readonly string[];
  /** Makes a directory and those above it, for this user only. Returns those that were not there, topmost first. */
  makeDir(path: string): readonly string[];
  /** Opens a file that must not exist yet, for this user only. */
  create(path: string): Promise<WritableFile>;
  /** Opens a file to write at its end; makes it when it is not there. */
  openEnd(path: string): Promise<WritableFile>;
  /** Moves a file or a directory; a file that has the new name already is replaced at once. */
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name, unless that name is taken. */
  linkNew(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Removes a directory with all that is in it. */
  removeTree(path: string): Promise<void>;
  /** Makes a file's time of change now. */
  touch(path: string): Promise<void>;
  /** Returns once the entries of a directory are on the disk. */
  syncDir(path: string): Promise<void>;
};
