export { checkUrl, UrlRefused, type CheckUrlOptions } from './check-url';
export { ConnectFailed, failureOf, type OutboundFailure } from './failures';
export * from './fetch';
export { guardedAgent, type GuardedAgent, type GuardedAgentOptions } from './guarded';
export { guardedPost, PostFailed } from './post';
export * from './request';
export * from './socket';
