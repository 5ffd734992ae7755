declare module 'fs-native-extensions' {
  /** Locks an open file; `false` if another process holds a conflicting lock. */
  export function tryLock(file: number, options: { readonly shared: boolean }): boolean;
  /** Releases a lock, also for child processes that inherited the open file. */
  export function unlock(file: number): void;
}
