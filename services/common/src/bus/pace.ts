// Under load, requests to the broker are a little apart: each costs as much as many messages do, on both
// sides. Without load there is no waiting, so that a message on its own is as quick as it can be.
import { pause } from '../lifecycle';

export interface Pace {
  /** Called with what one request carried, which began at `started` (performance.now). */
  after(messages: number, started: number): Promise<void>;
}

const APART_MS = 6;
const WINDOW_MS = 50;
/** So many messages within the window are load: 1,000 a second. An event is two at its fan-out. */
const LOAD = 50;

export function createPace(): Pace {
  let level = 0;
  let at = 0;
  return {
    async after(messages, started) {
      const now = performance.now();
      level = level * Math.exp((at - now) / WINDOW_MS) + messages;
      at = now;
      const rest_ms = APART_MS - (now - started);
      if (level >= LOAD && rest_ms > 0) await pause(rest_ms);
    },
  };
}
