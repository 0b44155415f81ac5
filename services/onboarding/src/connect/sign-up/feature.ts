import type { Feature } from '../../ground/feature';
import {
  createConnectHandlers,
  createSessionHandlers,
  deleteUnfinishedSessions,
  type ConnectDependencies,
} from './handlers';
import { registerFromCode, type CodeDependencies } from './register-from-code';

export const createSignUp = (
  deps: ConnectDependencies & CodeDependencies,
): Feature & {
  handlers: ReturnType<typeof createConnectHandlers> & {
    registerFromCode: ReturnType<typeof registerFromCode>;
  };
  directoryHandlers: ReturnType<typeof createSessionHandlers>;
  deleteSessions: ReturnType<typeof deleteUnfinishedSessions>;
} => ({
  handlers: { ...createConnectHandlers(deps), registerFromCode: registerFromCode(deps) },
  directoryHandlers: createSessionHandlers(deps),
  deleteSessions: deleteUnfinishedSessions(deps),
});
