export type { Bus, Outgoing, Received, Unsettled } from './bus';
export { createBus, type KafkaSettings } from './kafka';
export { deadLetterName, topics, type Topic } from './topics';
