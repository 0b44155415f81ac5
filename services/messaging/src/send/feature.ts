import { implementPart } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { MessagingDefinition } from '@bmg/proto/messaging';
import type { Dependencies } from '../dependencies';
import { createSendHandlers } from './handlers';

export const sends = (deps: Dependencies): Feature => ({
  rpcs: [implementPart(MessagingDefinition, createSendHandlers(deps))],
  buffers: [deps.sendJournal],
});
