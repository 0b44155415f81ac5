// A partner's own server with a topic, queue or bucket, and a reader of everything that it stores.

export interface StoredEvent {
  event_id: string;
  raw: string;
  /** The key of the conversation, if the type has one. */
  key: string | undefined;
}

/**
 * A change of the settings that the check must refuse, and the setting that the error must name.
 */
export type Fault = [name: string, change: Record<string, unknown>, setting: string];

export interface DestinationServer {
  type: 'kafka' | 'amqp' | 'sqs' | 's3';
  /** All of an endpoint, its credential included. */
  settings: Readonly<Record<string, unknown>>;
  credential: string;
  faults: readonly Fault[];
  /** In the order of reading; a reader adds to it all the time. */
  stored: StoredEvent[];
  /** False if the server drops a repetition of an event, or replaces the event by it. */
  keeps_repetitions: boolean;
  /** The server takes no more, and answers nothing. */
  hang(): Promise<void>;
  goOn(): Promise<void>;
  /**
   * Kills the server, or cuts all its connections if it keeps its data in memory, and starts it
   * again.
   */
  interrupt(): Promise<void>;
  stop(): Promise<void>;
}

/** A credential that no server knows. */
export const WRONG = 'battery-staple';
