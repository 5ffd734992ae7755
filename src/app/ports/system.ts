/** Wall-clock time, for display and retention only: nothing is ever ordered by it. */
export type Clock = {
  nowMs(): number;
};
