// Data of people is kept no longer than it is needed: the contacts of a broadcast go when it has ended.
import type { Logger } from '@bmg/common/telemetry';
import { chunkIds } from '../request-id';
import type { Broadcasts } from './broadcasts';
import type { Chunks } from './chunks';

export interface ForgetDependencies {
  chunks: Pick<Chunks, 'removeContacts'>;
  broadcasts: Pick<Broadcasts, 'contactsRemoved'>;
  log: Logger;
}

/** Never fails: what is left is swept later. */
export async function forgetContacts(
  { chunks, broadcasts, log }: ForgetDependencies,
  broadcast: { _id: number; chunk_count: number },
): Promise<void> {
  try {
    await chunks.removeContacts(chunkIds(broadcast));
    await broadcasts.contactsRemoved(broadcast._id);
  } catch (error) {
    log.warn({ err: error, broadcast_id: broadcast._id }, 'contacts are not removed yet');
  }
}
