// What the ingress and fan-out both know of the upstream's webhooks: how to read values without
// trusting their types, which person an item concerns, and how a body is divided by conversation.
export * from './json';
export * from './parties';
export * from './read';
export { conversationKey, split, type Part } from './split';
