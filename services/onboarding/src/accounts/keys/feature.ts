import { implement } from '@bmg/common/rpc';
import { KeysDefinition } from '@bmg/proto/keys';
import type { Dependencies } from '../../dependencies';
import type { deleteUnfinishedSessions } from '../../connect/sign-up/handlers';
import { createKeyHandlers } from './handlers';

interface Given {
  deleteSessions: ReturnType<typeof deleteUnfinishedSessions>;
}

export const wireKeys = (deps: Dependencies, { deleteSessions }: Given) => ({
  rpcs: [implement(KeysDefinition, createKeyHandlers({ ...deps, deleteSessions }))],
});
