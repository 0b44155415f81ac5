// Contacts are personal data: they are deleted as soon as their broadcast has ended.
import type { Logger } from '@bmg/common/telemetry';
import { chunkIds } from '../ground/request-id';
import { numberOf } from './broadcast-ids';
import type { Broadcasts } from './broadcasts';
import type { Chunks } from './chunks';
import type { Broadcast } from './types';

/** Never rejects: contacts that could not be deleted are swept later. */
export async function removeContactsOf(
  broadcast: Pick<Broadcast, '_id' | 'public_id' | 'partner_id' | 'chunk_count'>,
  deps: {
    chunks: Pick<Chunks, 'removeContacts'>;
    broadcasts: Pick<Broadcasts, 'contactsRemoved'>;
    log: Logger;
  },
): Promise<void> {
  try {
    await deps.chunks.removeContacts(chunkIds(broadcast));
    await deps.broadcasts.contactsRemoved(broadcast._id);
  } catch (error) {
    const { partner_id } = broadcast;
    deps.log.warn(
      { err: error, partner_id, broadcast_id: numberOf(broadcast) },
      'failed to delete contacts',
    );
  }
}
