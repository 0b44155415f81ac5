// The parts of a service, as `run` starts and stops them.

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
