// Periodic work: one run at a time, woken early on demand, stopped cleanly.
import type { Logger } from '../telemetry';
import type { Component } from './component';
import { pause } from './wait';

export interface Poller extends Component {
  /** Runs the work now instead of after the interval. */
  wake(): void;
}

/** `work` resolves to true when there is more to do at once. */
export function createPoller(
  name: string,
  every_ms: number,
  work: (signal: AbortSignal) => Promise<boolean | void>,
  log: Logger,
): Poller {
  const stopped = new AbortController();
  let nap = new AbortController();
  let loop: Promise<void> = Promise.resolve();
  const turn = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      nap = new AbortController();
      let more = false;
      try {
        more = (await work(stopped.signal)) === true;
      } catch (error) {
        log.error({ err: error, poller: name }, 'periodic work failed');
      }
      if (!more && !stopped.signal.aborted) await pause(every_ms, nap.signal);
    }
  };
  return {
    name,
    wake: () => nap.abort(),
    async start() {
      loop = turn();
    },
    async stop() {
      stopped.abort();
      nap.abort();
      await loop;
    },
  };
}
