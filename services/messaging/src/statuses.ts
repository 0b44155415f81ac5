// Applies status events to the message records.
import type { Received } from '@bmg/common/bus';
import { readCallbackData, statusOfEvent } from '@bmg/common/messages';
import type { Event } from '@bmg/proto/stream';
import type { Messages, StatusUpdate } from './store/messages';

interface StatusData {
  message_id?: unknown;
  recipient?: unknown;
  recipient_bsuid?: unknown;
}

/** Returns the handler of event batches. Events other than statuses are ignored. */
export const applyStatusEvents =
  (messages: Messages) =>
  async (batch: Received<Event>[]): Promise<void> => {
    const updates = batch.flatMap(({ message: event }): StatusUpdate[] => {
      const status = statusOfEvent(event.event);
      if (!status || event.phone_number_id === undefined) return [];
      const data = JSON.parse(event.data) as StatusData;
      const message_id = String(data.message_id ?? '');
      const ours = readCallbackData(event.opaque);
      return [
        {
          message_id,
          status,
          at: new Date(event.timestamp * 1_000),
          ...(ours && {
            rebuild: {
              _id: ours.request_id,
              partner_id: ours.partner_id,
              waba_id: event.waba_id,
              phone_number_id: event.phone_number_id,
              recipient: String(data.recipient ?? data.recipient_bsuid ?? ''),
            },
          }),
        },
      ];
    });
    await messages.applyStatuses(updates);
  };
