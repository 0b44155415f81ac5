export { isAllowedAddress, isPublicAddress } from './addresses';
export { checkUrl, UrlRefused } from './check-url';
export type { CheckUrlOptions, UrlRefusal } from './check-url';
export { ConnectFailed, failureOf } from './failures';
export type { OutboundFailure } from './failures';
export {
  FETCH_TIMEOUT_MS,
  FetchFailed,
  guardedFetch,
  REDIRECT_STATUSES,
  REDIRECTS_MAX,
} from './fetch';
export type { FetchedFile, FetchFailure, GuardedFetchOptions } from './fetch';
export { guardedAgent } from './guarded';
export type { GuardedAgent, GuardedAgentOptions } from './guarded';
export { guardedPost, POST_TIMEOUT_MS, PostFailed } from './post';
export type { GuardedPostOptions, PostResult } from './post';
export { guardedRequest, RequestFailed } from './request';
export type { GuardedRequestOptions, RequestAnswer } from './request';
export { ProtocolBroken, protocolBroken } from './inspect';
export type { Inspect } from './inspect';
export { dnsResolve, systemResolve } from './resolve';
export type { Resolve, ResolvedAddress } from './resolve';
export { guardedSocket, guardedSocketOptions } from './socket';
export type { GuardedSocket, SocketGuard, SocketTarget } from './socket';
