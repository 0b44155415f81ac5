// Applies statuses to the message records.
import type { Received } from '@bmg/common/bus';
import { readCallbackData, type MessageStatus } from '@bmg/common/messages';
import type { Statuses } from '@bmg/proto/stream';
import type { Messages, StatusUpdate } from './store/messages';

/** Returns the handler of the topic `status`. */
export const applyStatuses =
  (messages: Messages) =>
  async (batch: Received<Statuses>[]): Promise<void> =>
    messages.applyStatuses(batch.flatMap(({ message }) => updatesOf(message)));

function updatesOf({ waba_id, phone_number_id, statuses }: Statuses): StatusUpdate[] {
  if (phone_number_id === undefined) return [];
  return statuses.map(({ message_id, status, timestamp, opaque, recipient }) => {
    const ours = readCallbackData(opaque);
    return {
      message_id,
      status: status as MessageStatus,
      at: new Date(timestamp * 1_000),
      ...(ours && {
        rebuild: {
          _id: ours.request_id,
          partner_id: ours.partner_id,
          waba_id,
          phone_number_id,
          recipient: recipient ?? '',
        },
      }),
    };
  });
}
