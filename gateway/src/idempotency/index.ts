export { writeAnswer, type Answer } from './answer';
export { createGuards, type Guards, type Work } from './guard';
export { hasKey } from './key';
