// Enforces a minimum rate of transfers: a peer that trickles data would hold memory and connections that
// others need.
const BYTES_PER_S_MIN = 1_024;

/**
 * Calls `onSlow` once if an interval moves fewer bytes than the minimum rate; returns a function that stops.
 * The first interval is the grace period of slow starts.
 */
export function watchMinimumRate(
  every_ms: number,
  moved: () => number,
  onSlow: () => void,
): () => void {
  let before = moved();
  const timer = setInterval(() => {
    const now = moved();
    if (now - before < (BYTES_PER_S_MIN * every_ms) / 1_000) {
      clearInterval(timer);
      onSlow();
    }
    before = now;
  }, every_ms);
  // The timer must not keep the process alive.
  timer.unref();
  return () => clearInterval(timer);
}
