// What a service is made of, and what running it takes.

export interface Component {
  name: string;
  start(signal: AbortSignal): Promise<void>;
  /** The process is about to stop, and is not called any more soon: told at once, before the drain. */
  drain?(): void;
  stop(): Promise<void>;
  /** Makes what has to be there in an engine before the first start; safe to repeat. */
  prepare?(signal: AbortSignal): Promise<void>;
  /** Throws or rejects while the component cannot do its work; polled for readiness. */
  check?(): Promise<void>;
}

export interface Service {
  name: string;
  components: Component[];
  metrics: { host: string; port: number };
  /** Told when readiness changes; the gRPC health service listens here. */
  onReady?(ready: boolean): void;
  stop_timeout_ms: number;
  drain_ms: number;
  warnings?: string[];
}
