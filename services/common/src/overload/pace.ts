// Watches that data moves at a minimum rate. A client or server that trickles it would hold what others
// need.
const BYTES_PER_S_MIN = 1_024;

/**
 * Calls `onSlow` once an interval has moved fewer bytes than the minimum rate gives; returns how to stop.
 * The first interval is the grace period of slow starts.
 */
export function watchPace(every_ms: number, moved: () => number, onSlow: () => void): () => void {
  let before = moved();
  const timer = setInterval(() => {
    const now = moved();
    if (now - before < (BYTES_PER_S_MIN * every_ms) / 1_000) {
      clearInterval(timer);
      onSlow();
    }
    before = now;
  }, every_ms);
  // A watch alone must not keep the process alive.
  timer.unref();
  return () => clearInterval(timer);
}
