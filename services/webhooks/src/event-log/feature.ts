import type { Feature } from '@bmg/common/service';
import type { DeliveryRole } from '../dependencies';
import { createEventLogHandlers } from './handlers';
import { createReplayRunner } from './replay';
import { createReplays } from './store/replays';

export function eventLog(deps: DeliveryRole): Feature {
  const { reader, waiters, upkeep } = deps.eventLog;
  const replays = createReplayRunner({ ...deps, replays: createReplays(deps.db), reader });
  return {
    rpcs: [createEventLogHandlers({ ...deps.eventLog, replays })],
    workers: [replays, ...upkeep],
    // The server waits for calls, so the waiting ones end before it stops.
    doors: [waiters],
  };
}
