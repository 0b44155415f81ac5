// Applies the upstream's status events to the contacts of broadcasts. Repeated and reordered events count
// once, because the ledger records states and derives the counters from them.
import type { Received } from '@bmg/common/bus';
import { maskPhone } from '@bmg/common/ids';
import type { Event } from '@bmg/proto/stream';
import type { Change, ContactEvent } from './contact-state';
import type { Ledger } from './ledger';
import { readOpaque } from '../request-id';

const EVENT_OF: Record<string, ContactEvent> = {
  'message.sent': 'status_sent',
  'message.delivered': 'status_delivered',
  // A message that was read was delivered.
  'message.read': 'status_delivered',
  'message.failed': 'status_failed',
};
const NO_CODE = 'failed';

/** Handles a batch of events in order; events about other messages are skipped. */
export const applyStatusEvents =
  (ledger: Pick<Ledger, 'apply'>) =>
  async (batch: Received<Event>[]): Promise<void> => {
    const changes = new Map<string, { chunk_id: string; salt: string; changes: Change[] }>();
    for (const { message } of batch) {
      const event = EVENT_OF[message.event];
      const contact = event && readOpaque(message.opaque);
      if (!event || !contact) continue;
      const { chunk_id, salt, index } = contact;
      const change: Change = { index, event, ...(event === 'status_failed' && reasonOf(message)) };
      const known = changes.get(`${chunk_id} ${salt}`);
      if (known) known.changes.push(change);
      else changes.set(`${chunk_id} ${salt}`, { chunk_id, salt, changes: [change] });
    }
    await Promise.all(
      [...changes.values()].map(({ chunk_id, salt, changes: list }) =>
        ledger.apply(chunk_id, list, { salt }),
      ),
    );
  };

function reasonOf({ data, contact }: Event): { code: string; example: string } {
  return { code: codeOf(data), example: contact === undefined ? '' : maskPhone(contact) };
}

function codeOf(data: string): string {
  try {
    const { errors } = JSON.parse(data) as { errors?: Array<{ code?: unknown }> | null };
    const code = errors?.[0]?.code;
    return code === undefined || code === null ? NO_CODE : String(code);
  } catch {
    return NO_CODE;
  }
}
