export { createBound, type Bound } from './bound';
export {
  createBoundedServer,
  HTTP_LIMITS,
  type BoundedServerOptions,
  type HttpLimits,
} from './http-server';
