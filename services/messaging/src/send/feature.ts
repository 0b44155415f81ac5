import type { Dependencies } from '../dependencies';
import { createSendHandlers, type SendHandlers } from './handlers';

export const wireSend = (deps: Dependencies): { handlers: SendHandlers } => ({
  handlers: createSendHandlers(deps),
});
