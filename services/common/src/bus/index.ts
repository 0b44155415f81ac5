export type { Backlog, Bus, Outgoing, Received, Unsettled } from './bus';
export { gathered } from './gathered';
export { createBus, type KafkaSettings } from './kafka';
export { behind } from './lag';
export {
  createBusOperator,
  type BusOperator,
  type DeadLetter,
  type GroupLag,
  type LetterPlace,
} from './operating';
export { deadLetterName, topics, type Topic } from './topics';
