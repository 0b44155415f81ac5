// Spaces requests to the broker under load, because a request costs as much as many messages.
// Without load there is no delay.
import { pause } from '../lifecycle';

const APART_MS = 6;
const WINDOW_MS = 50;
/** Messages of a window that count as load: 1,000 a second. An event is two in fan-out. */
const LOAD = 50;

export function createRequestSpacing() {
  let level = 0;
  let at = 0;
  return {
    /** Called after a request with its message count and its start (performance.now). */
    async after(messages: number, started: number): Promise<void> {
      const now = performance.now();
      level = level * Math.exp((at - now) / WINDOW_MS) + messages;
      at = now;
      const rest_ms = APART_MS - (now - started);
      if (level >= LOAD && rest_ms > 0) await pause(rest_ms);
    },
  };
}
