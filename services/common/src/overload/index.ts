export { createBound, type Bound } from './bound';
export {
  createBoundedServer,
  HTTP_LIMITS,
  type BoundedServer,
  type BoundedServerOptions,
  type HttpLimits,
} from './http-server';
export { createPool, type Pool, type PoolOptions } from './pool';
export { BodyRefused, readBody, type BodyProblem } from './read-body';
