export type { Backlog, Bus, Outgoing, Received, Unsettled } from './bus';
export { gathered } from './gathered';
export type { KafkaSettings } from './client';
export { createBus } from './kafka';
export { behind } from './groups';
export * from './operating';
export { deadLetterName, topics, type Topic } from './topics';
