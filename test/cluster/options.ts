/** Options of a run, for each check. */
export interface Options {
  /** Repeats the traffic and the random kills. */
  seed: number;
  /** Length of the random kills. */
  minutes: number;
}
