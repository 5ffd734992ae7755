/** A change to the bytes of a file that is not on the disk yet. */
export type DataChange =
  | { readonly kind: 'write'; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly size: number };

/** A change to the names in a directory; a rename takes one name away and gives another in one go. */
export type EntryChange = { readonly remove?: string; readonly set?: readonly [name: string, inode: number] };

export type FileInode = {
  readonly kind: 'file';
  /** What is on the disk, whatever happens. */
  readonly durable: Uint8Array;
  /** What a reader sees. */
  readonly current: Uint8Array;
  /** What happened since the last flush: any of it may be lost. */
  readonly pending: readonly DataChange[];
  /** How often its time of change was made new. */
  readonly touches: number;
};

export type DirInode = {
  readonly kind: 'dir';
  readonly durable: ReadonlyMap<string, number>;
  readonly current: ReadonlyMap<string, number>;
  readonly pending: readonly EntryChange[];
};

export type Inode = FileInode | DirInode;

export function applyData(bytes: Uint8Array, change: DataChange): Uint8Array {
  if (change.kind === 'truncate') return resized(bytes, change.size);
  // Where an earlier write is missing, a later one leaves a hole, which reads as zeros.
  const grown = resized(bytes, Math.max(bytes.length, change.offset + change.bytes.length));
  grown.set(change.bytes, change.offset);
  return grown;
}

export function applyEntry(names: ReadonlyMap<string, number>, { remove, set }: EntryChange): Map<string, number> {
  const changed = new Map(names);
  if (remove !== undefined) changed.delete(remove);
  if (set !== undefined) changed.set(...set);
  return changed;
}

function resized(bytes: Uint8Array, size: number): Uint8Array {
  const copy = new Uint8Array(size);
  copy.set(bytes.subarray(0, size));
  return copy;
}
