export { HOP_MS, ownCall, type Call } from './call';
export {
  isRead,
  type Client,
  type Codec,
  type Definition,
  type Handlers,
  type Method,
  type RequestOf,
  type ResponseOf,
} from './definition';
export { createRpcServer, implement, type Implementation, type RpcServer } from './server';
export { createRpcClient, type RpcClient } from './client';
