// What services see of Kafka.
import type { Component } from '../lifecycle';
import type { SpanContext } from '../telemetry';
import type { Topic } from './topics';

export interface Outgoing<T> {
  topic: Topic<T>;
  key: string;
  message: T;
  /** The span that this message continues. */
  span?: SpanContext | undefined;
}

export interface Received<T> {
  message: T;
  key: string;
  span: SpanContext | undefined;
  partition: number;
  offset: string;
}

/** One message whose offset may be committed once `done` was called for it and all before it. */
export interface Unsettled<T> extends Received<T> {
  done(): void;
}

export interface Bus extends Component {
  check(): Promise<void>;
  /** Resolves once every in-sync replica has the messages; what arrives together is sent together. */
  publish(messages: Outgoing<any>[]): Promise<void>; // any: one batch may mix topics
  /**
   * Batches in order, per partition; the offset moves when the handler resolves. A handler that throws
   * is tried again a few times, then message by message, and what still fails goes to the dead letters.
   */
  consume<T>(
    topic: Topic<T>,
    group: string,
    handler: (batch: Received<T>[]) => Promise<void>,
  ): void;
  /**
   * Messages as they come, without waiting for the ones before: the consumer settles each, and holds the
   * intake back itself by returning a promise; while it does it calls `heartbeat`, or the group gives its
   * partitions to others.
   */
  consumeUnsettled<T>(
    topic: Topic<T>,
    group: string,
    handler: (batch: Unsettled<T>[], heartbeat: () => Promise<void>) => Promise<void>,
    /** Told which partitions are ours, at every change. */
    onAssigned: (partitions: number[]) => void,
  ): void;
  /** Resolves while some process, this or another, consumes in that group; rejects otherwise. */
  attended(group: string): Promise<void>;
  /** Takes in nothing more; what was taken in can still be settled before `stop`. */
  pauseIntake(): void;
  /** Puts what cannot be handled aside, with its reason. */
  deadLetter(topic: Topic<any>, payload: Buffer, reason: string): Promise<void>; // any: bytes alone count
}
