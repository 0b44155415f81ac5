// Applies statuses to the message records.
import type { Received } from '@bmg/common/bus';
import { readCallbackData, type MessageStatus } from '@bmg/common/messages';
import { traceIdOf } from '@bmg/common/telemetry';
import type { Statuses, Statuses_Status } from '@bmg/proto/stream';
import { type ChargeFacts, factsOf } from '../pricing';
import type { Messages } from './store';
import type { StatusUpdate } from './status-writes';

/** Returns the handler of the topic `status`. */
export const applyStatuses =
  (messages: Messages) =>
  (batch: Received<Statuses>[]): Promise<void> =>
    messages.applyStatuses(batch.flatMap(updatesOf));

function updatesOf({ message, span }: Received<Statuses>): StatusUpdate[] {
  const { waba_id, phone_number_id, statuses } = message;
  if (phone_number_id === undefined) return [];
  const trace_id = traceIdOf(span);
  return statuses.map((reported) => {
    const { message_id, status, timestamp, opaque, recipient, received_at_ms, reconciled } =
      reported;
    const ours = readCallbackData(opaque);
    const at = new Date(timestamp * 1_000);
    return {
      phone_number_id,
      message_id,
      status: status as MessageStatus,
      at,
      received_at: new Date(received_at_ms),
      reconciled,
      error_code: reported.error_code,
      participant: reported.participant,
      trace_id,
      charge: chargeOf(reported, at),
      ...(ours && {
        rebuild: {
          _id: ours.request_id,
          partner_id: ours.partner_id,
          waba_id,
          recipient: recipient ?? '',
        },
      }),
    };
  });
}

const chargeOf = (reported: Statuses_Status, at: Date): ChargeFacts =>
  factsOf({
    status: reported.status as MessageStatus,
    at,
    recipient: reported.recipient ?? '',
    category: reported.pricing_category,
    billable: reported.pricing_billable,
    type: reported.pricing_type,
    model: reported.pricing_model,
  });
