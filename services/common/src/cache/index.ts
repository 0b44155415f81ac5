// Bounded memory: evicts the entry that was used longest ago.
export { LRUCache } from 'lru-cache';
