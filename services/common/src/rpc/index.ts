import './exact-struct';

export { HOP_MS, ownCall, type Call, untilReplied } from './call';
export {
  implement,
  implementPart,
  isRead,
  type Client,
  type Codec,
  type Definition,
  type Handlers,
  type Implementation,
  type Method,
  type RequestOf,
  type ResponseOf,
} from './definition';
export { createRpcServer, type RpcServer } from './server';
export { createRpcClient, type RpcClient } from './client';
