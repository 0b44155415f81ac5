import type { Feature } from '../../ground/feature';
import { createSyncPoller, type SyncPollerDependencies } from './sync-poller';

export const createSync = (deps: SyncPollerDependencies): Feature => ({
  components: [createSyncPoller(deps)],
});
