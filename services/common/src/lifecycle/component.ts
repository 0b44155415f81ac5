// The parts of a service, as `run` starts and stops them, and the one that works periodically.
import type { Logger } from '../telemetry';
import { pause } from './wait';

export interface Component {
  name: string;
  start(signal: AbortSignal): Promise<void>;
  /** Called when a shutdown begins, before the drain period. */
  drain?(): void;
  stop(): Promise<void>;
  /** Creates the topics and indexes that the component needs in its engine; safe to repeat. */
  prepare?(signal: AbortSignal): Promise<void>;
  /** Rejects while the component cannot work; polled for readiness. */
  check?(): Promise<void>;
}

export interface Service {
  name: string;
  components: Component[];
  metrics: { host: string; port: number };
  /** Called when readiness changes, for the gRPC health service. */
  onReady?(ready: boolean): void;
  stop_timeout_ms: number;
  drain_ms: number;
  warnings?: string[];
}

export interface Poller extends Component {
  /** Runs the work now instead of after the interval. */
  wake(): void;
}

/** Runs `work` periodically, one run at a time. It resolves to true when there is more to do. */
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
