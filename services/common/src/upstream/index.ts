export {
  createUpstream,
  segment,
  type Json,
  type Upstream,
  type UpstreamRequest,
  type UpstreamSettings,
} from './client';
export {
  createRunner,
  cursorsOf,
  isObject,
  itemsOf,
  needTarget,
  succeeded,
  unusable,
  without,
  type Operation,
  type Operations,
  type Pages,
  type Question,
  type Row,
  type Runner,
  type Targeted,
} from './operations';
export { scrub, upstreamError, type UpstreamErrorBody } from './upstream-codes';
