export { idOf, isObject, itemsOf, succeeded, unusable, without, type Json } from './answers';
export {
  createUpstream,
  segment,
  type Upstream,
  type AnswerHead,
  type UpstreamRequest,
  type UpstreamSettings,
} from './client';
export { LIMIT_FIELDS, limitTierOf, peopleOfTier, readWithLimit } from './messaging-limit';
export {
  createRunner,
  needTarget,
  type Operation,
  type Operations,
  type Question,
  type Row,
  type Runner,
  type Targeted,
} from './operations';
export { createAccountLimits, type AccountLimits } from './account-limits';
export { cursorsOf, eachPage, nextOf, type Pages } from './paging';
export { scrub, upstreamError, type UpstreamErrorBody } from './upstream-codes';
