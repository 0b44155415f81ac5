// kafkajs does not publish the types of its connections' queues.
declare module 'kafkajs/src/network/requestQueue' {
  class RequestQueue {
    constructor(options: {
      maxInFlightRequests: number | null;
      requestTimeout: number;
      enforceRequestTimeout: boolean;
      clientId: string;
      broker: string;
      logger: { debug(): void; warn(): void };
      isConnected(): boolean;
    });
    readonly pending: unknown[];
    readonly inflight: ReadonlyMap<
      number,
      { sentAt: number; requestTimeout: number; timeoutRequest(): void }
    >;
    readonly enforceRequestTimeout: boolean;
    isConnected(): boolean;
    scheduleRequestTimeoutCheck(): void;
    destroy(): void;
    push(request: {
      entry: { correlationId: number };
      expectResponse: boolean;
      sendRequest(): void;
    }): void;
    fulfillRequest(response: { correlationId: number; payload: Buffer; size: number }): void;
    maybeThrottle(ms: number): void;
    scheduleCheckPendingRequests(): void;
  }
  export = RequestQueue;
}
