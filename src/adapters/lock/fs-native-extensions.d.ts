declare module 'fs-native-extensions' {
  /** Takes a lock on an open file; false when somebody else holds one that excludes it. */
  export function tryLock(file: number, options: { readonly shared: boolean }): boolean;
  /** Gives a lock back, also for those who have the same file open through us. */
  export function unlock(file: number): void;
}
