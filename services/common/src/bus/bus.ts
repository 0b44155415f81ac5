// The bus interface that services use.
import type { Component } from '../lifecycle';
import type { SpanContext } from '../telemetry';
import type { Topic } from './topics';

export interface Outgoing<T> {
  topic: Topic<T>;
  key: string;
  message: T;
  /** The parent of the span that handles the message. */
  span?: SpanContext | undefined;
}

export interface Received<T> {
  message: T;
  key: string;
  span: SpanContext | undefined;
  partition: number;
  offset: string;
  /** When the message was published and when it was read, in epoch milliseconds. */
  published_at_ms?: number;
  read_at_ms?: number;
}

/** Its offset is committed once `done` was called for it and for all messages before it. */
export interface Unsettled<T> extends Received<T> {
  done(): void;
  /** The message was not taken. Its offset stays uncommitted until Kafka has redelivered it. */
  forget(): void;
}

/** Numbers of messages of a topic. */
export interface Backlog {
  /** Not handled by the group. */
  waiting: number;
  /** All that were ever published. */
  published: number;
}

export interface Bus extends Component {
  check(): Promise<void>;
  /** Resolves once all in-sync replicas have the messages. Concurrent calls share a batch. */
  publish(messages: Outgoing<any>[]): Promise<void>; // any: one batch may mix topics
  /**
   * Handles batches in order per partition; an offset is committed after the handler resolves. A
   * batch that fails is retried; if the message itself is at fault, message by message and then to
   * the dead letters.
   */
  consume<T>(
    topic: Topic<T>,
    group: string,
    handler: (batch: Received<T>[]) => Promise<void>,
    /** Called with this member's partitions at every change. */
    onAssigned?: (partitions: number[]) => void,
  ): void;
  /**
   * Hands over messages without waiting for earlier ones; the consumer calls `done` for each. It
   * applies backpressure by not resolving, and calls `heartbeat` meanwhile, or it loses its
   * partitions.
   */
  consumeUnsettled<T>(
    topic: Topic<T>,
    group: string,
    handler: (batch: Unsettled<T>[], heartbeat: () => Promise<void>) => Promise<void>,
    /** Called with this member's partitions at every change. */
    onAssigned: (partitions: number[]) => void,
  ): void;
  /** Rejects unless a process, this one or another, consumes in the group. */
  attended(group: string): Promise<void>;
  /** Returns the messages of the topic that the group has not handled yet, as Kafka reports it. */
  behind(topic: Topic<any>, group: string): Promise<Backlog>; // any: only the name matters
  /** For diagnosis: the topics that do not exist, read from the broker on a new connection. */
  missingTopics(): Promise<string[]>;
  /** Stops reading. Messages already read can still be settled before `stop`. */
  pauseIntake(): void;
  /**
   * Writes a message that cannot be handled to the dead-letter topic, with the reason. `key` is that
   * of a whole message, which can be published again.
   */
  deadLetter(topic: Topic<any>, payload: Buffer, reason: string, key?: string): Promise<void>; // any: only the bytes matter
}
