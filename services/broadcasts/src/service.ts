import { defineService, ownIndexes, purge } from '@bmg/common/service';
import { contactStates } from './contact-states/status-events';
import { openDependencies } from './dependencies';
import { broadcastRpcs } from './handlers';
import { runner } from './runner/feature';
import { purgeRows } from './collections';

export const createBroadcasts = defineService({
  name: 'broadcasts',
  // Room for 10,000 contacts with their params.
  message_limit_bytes: 24 * 1024 * 1024,
  open: openDependencies,
  // A batch of statuses passes the first two in this order.
  features: [
    runner,
    contactStates,
    ({ states }) => ({ consumers: { template: (batch) => states.apply(batch) } }),
    broadcastRpcs,
    purge(purgeRows),
    ownIndexes,
  ],
});
