import type { Component } from '@bmg/common/lifecycle';
import type { Dependencies } from '../../dependencies';
import { createConnectHandlers, createSessionHandlers, deleteUnfinishedSessions } from './handlers';
import { registerFromCode } from './register-from-code';
import { createSyncPoller } from '../sync/sync-poller';

export interface SignUpFeature {
  handlers: ReturnType<typeof createConnectHandlers> & {
    registerFromCode: ReturnType<typeof registerFromCode>;
  };
  directoryHandlers: ReturnType<typeof createSessionHandlers>;
  deleteUnfinishedSessions: ReturnType<typeof deleteUnfinishedSessions>;
  components: Component[];
}

export const wireSignUp = (deps: Dependencies): SignUpFeature => ({
  handlers: { ...createConnectHandlers(deps), registerFromCode: registerFromCode(deps) },
  directoryHandlers: createSessionHandlers(deps),
  deleteUnfinishedSessions: deleteUnfinishedSessions(deps),
  components: [createSyncPoller(deps)],
});
