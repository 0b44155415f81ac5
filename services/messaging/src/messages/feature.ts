// Applies statuses to the message records.
import type { Feature } from '@bmg/common/service';
import type { Dependencies } from '../dependencies';
import type { Received } from '@bmg/common/bus';
import { readCallbackData, type MessageStatus } from '@bmg/common/messages';
import { endSpan, isSampled, sampledSpan, startSpan, traceIdOf } from '@bmg/common/telemetry';
import type { Statuses } from '@bmg/proto/stream';
import { factsOf } from '../pricing';
import type { Messages } from './store';
import type { StatusUpdate } from './status-writes';

export const messageRecords = ({ messages }: Dependencies): Feature => ({
  consumers: { status: applyStatuses(messages) },
  buffers: [{ name: 'records', start: async () => undefined, stop: () => messages.drain() }],
});

export const applyStatuses =
  (messages: Messages) =>
  async (batch: Received<Statuses>[]): Promise<void> => {
    await messages.applyStatuses(batch.flatMap(updatesOf));
    // A status must not wait for a link that could not be made.
    await linkToSends(messages, batch).catch(() => undefined);
  };

/** A sampled trace of a status gets a span with a link to the trace of its send. */
async function linkToSends(messages: Messages, batch: Received<Statuses>[]): Promise<void> {
  const sampled = batch.flatMap(({ message, span }) =>
    isSampled(span)
      ? message.statuses.flatMap(({ opaque }) => {
          const ours = readCallbackData(opaque);
          return ours ? [{ span, request_id: ours.request_id }] : [];
        })
      : [],
  );
  if (sampled.length === 0) return;
  const sends = await messages.tracesOf(sampled.map(({ request_id }) => request_id));
  const byRequest = new Map(sends.map(({ _id, send }) => [_id, send]));
  for (const { span, request_id } of sampled) {
    const { trace_id, span_id } = byRequest.get(request_id) ?? {};
    if (trace_id === undefined || span_id === undefined) continue;
    endSpan(startSpan('message status', { parent: span, links: [sampledSpan(trace_id, span_id)] }));
  }
}

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
      charge: factsOf(reported),
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
