// A bounded cache: evicts the least recently used entry.
export { LRUCache } from 'lru-cache';
