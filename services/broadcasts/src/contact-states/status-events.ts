// Applies the upstream's statuses to the contacts of broadcasts. Repeated and reordered ones count
// once, because the state writer records states and derives the counters from them. A status
// changes only contacts of the partner that its callback data names, on the number that it was sent
// from.
import type { Received } from '@bmg/common/bus';
import { maskPhone } from '@bmg/common/ids';
import { readCallbackData } from '@bmg/common/messages';
import type { Statuses, Statuses_Status } from '@bmg/proto/stream';
import type { Change, ContactEvent } from '../ground/contact-state';
import type { Guard } from './plan-write';
import type { StateWriter } from './state-writer';
import { readRequestId } from '../ground/request-id';
import type { Feature } from '@bmg/common/service';
import type { Dependencies } from '../dependencies';

const EVENT_OF: Record<string, ContactEvent> = {
  sent: 'status_sent',
  delivered: 'status_delivered',
  // A message that was read was delivered.
  read: 'status_delivered',
  failed: 'status_failed',
};
const NO_CODE = 'failed';

interface ContactChange {
  chunk_id: string;
  guard: Guard;
  change: Change;
}

/** Handles a batch of statuses in order; those of other messages are skipped. */
export const applyContactStatuses =
  (stateWriter: Pick<StateWriter, 'apply'>) =>
  async (batch: Received<Statuses>[]): Promise<void> => {
    const changes = new Map<string, { chunk_id: string; guard: Guard; changes: Change[] }>();
    for (const { chunk_id, guard, change } of batch.flatMap(contactChanges)) {
      const key = JSON.stringify([chunk_id, guard]);
      const known = changes.get(key);
      if (known) known.changes.push(change);
      else changes.set(key, { chunk_id, guard, changes: [change] });
    }
    await Promise.all(
      [...changes.values()].map(({ chunk_id, changes: list, guard }) =>
        stateWriter.apply(chunk_id, list, guard),
      ),
    );
  };

function contactChanges({ message }: Received<Statuses>): ContactChange[] {
  const { phone_number_id, statuses } = message;
  if (phone_number_id === undefined) return [];
  return statuses.flatMap((reported) => {
    const event = EVENT_OF[reported.status];
    const named = event && readCallbackData(reported.opaque);
    const contact = named && readRequestId(named.request_id);
    if (!event || !contact) return [];
    const { chunk_id, salt, index } = contact;
    const { partner_id } = named;
    const failure = event === 'status_failed' && reasonOf(reported);
    return [
      {
        chunk_id,
        guard: { salt, owner: { partner_id, phone_number_id } },
        change: { index, event, ...failure },
      },
    ];
  });
}

const reasonOf = ({ error_code, contact }: Statuses_Status): { code: string; example: string } => ({
  code: error_code ?? NO_CODE,
  example: contact === undefined ? '' : maskPhone(contact),
});

export const contactStates = ({ stateWriter }: Dependencies): Feature => ({
  consumers: { status: applyContactStatuses(stateWriter) },
  buffers: [stateWriter],
});
