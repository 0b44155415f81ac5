// Applies the upstream's statuses to the contacts of broadcasts. Repeated and reordered ones count
// once, because the state writer records states and derives the counters from them.
import type { Received } from '@bmg/common/bus';
import { maskPhone } from '@bmg/common/ids';
import type { Statuses, Statuses_Status } from '@bmg/proto/stream';
import type { Change, ContactEvent } from './contact-state';
import type { StateWriter } from './state-writer';
import { readOpaque } from '../request-id';

const EVENT_OF: Record<string, ContactEvent> = {
  sent: 'status_sent',
  delivered: 'status_delivered',
  // A message that was read was delivered.
  read: 'status_delivered',
  failed: 'status_failed',
};
const NO_CODE = 'failed';

/** Handles a batch of statuses in order; those of other messages are skipped. */
export const applyContactStatuses =
  (stateWriter: Pick<StateWriter, 'apply'>) =>
  async (batch: Received<Statuses>[]): Promise<void> => {
    const changes = new Map<string, { chunk_id: string; salt: string; changes: Change[] }>();
    for (const said of batch.flatMap(({ message }) => message.statuses)) {
      const event = EVENT_OF[said.status];
      const contact = event && readOpaque(said.opaque);
      if (!event || !contact) continue;
      const { chunk_id, salt, index } = contact;
      const change: Change = { index, event, ...(event === 'status_failed' && reasonOf(said)) };
      const known = changes.get(`${chunk_id} ${salt}`);
      if (known) known.changes.push(change);
      else changes.set(`${chunk_id} ${salt}`, { chunk_id, salt, changes: [change] });
    }
    await Promise.all(
      [...changes.values()].map(({ chunk_id, salt, changes: list }) =>
        stateWriter.apply(chunk_id, list, { salt }),
      ),
    );
  };

const reasonOf = ({ error_code, contact }: Statuses_Status): { code: string; example: string } => ({
  code: error_code ?? NO_CODE,
  example: contact === undefined ? '' : maskPhone(contact),
});
