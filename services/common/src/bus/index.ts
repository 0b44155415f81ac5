export type { Bus, Outgoing, Received, Unsettled } from './bus';
export { gathered } from './gathered';
export { createBus, type KafkaSettings } from './kafka';
export { deadLetterName, topics, type Topic } from './topics';
