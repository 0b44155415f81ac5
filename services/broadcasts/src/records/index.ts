export type { ActiveNumber } from './active';
export type { Broadcasts } from './broadcasts';
export {
  type ChunkCount,
  type ChunkHead,
  type Chunks,
  type Swap,
  removeContactsOf,
} from './chunks';
