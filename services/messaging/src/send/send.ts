// Sends one message: one upstream request, never retried, and one message record.
import { ApiError } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { resolveRecipient, upstreamAddress, writeCallbackData } from '@bmg/common/messages';
import { within } from '@bmg/common/lifecycle';
import type { Call } from '@bmg/common/rpc';
import { traceIdOf, waitedFor } from '@bmg/common/telemetry';
import { needTarget, segment, type AnswerHead, type Json } from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';
import type { Recipient as NamedRecipient, SendResult } from '@bmg/proto/messaging';
import type { Content } from './content';
import type { SendTrace } from '../messages';
import type { Needs, Dependencies } from '../dependencies';

export type SendDependencies = Needs<{ refusedTokens: 'add' }> &
  Pick<Dependencies, 'upstream' | 'credentials' | 'messages' | 'now' | 'log'>;

export interface SendRequest {
  target?: Target | undefined;
  recipient?: NamedRecipient | undefined;
  quoted_message_id?: string | undefined;
  /**
   * Set by a caller that may look up the outcome later. Defaults to the Idempotency-Key's, or a new
   * id.
   */
  request_id?: string;
}

export async function send(
  deps: SendDependencies,
  request: SendRequest,
  content: Content,
  call: Call,
): Promise<SendResult> {
  const recipient = resolveRecipient(request.recipient ?? {});
  const target = needTarget(request.target);
  const { access_token } = await deps.credentials.forSending(target, call);
  const request_id = request.request_id ?? call.idempotency?.key ?? newId('msg');
  let head: AnswerHead | undefined;
  const asked = performance.now();
  const answer = await deps.upstream
    .request(
      {
        operation: 'POST /{phone_number_id}/messages',
        method: 'POST',
        path: `/${segment(target.phone_number_id)}/messages`,
        token: access_token,
        send: true,
        onAnswer: (given) => (head = given),
        body: {
          messaging_product: 'whatsapp',
          recipient_type: 'individual',
          ...upstreamAddress(recipient),
          ...(request.quoted_message_id !== undefined && {
            context: { message_id: request.quoted_message_id },
          }),
          ...content.body,
          biz_opaque_callback_data: writeCallbackData(target.partner_id, request_id),
        },
      },
      call,
    )
    .catch((error: unknown) => {
      noteRefusedToken(deps, target, access_token, error);
      throw error;
    });
  const result = readAnswer(answer);
  const at = deps.now();
  const duration_ms = Math.round(performance.now() - asked);
  const recorded = deps.messages
    .record({
      _id: request_id,
      partner_id: target.partner_id,
      waba_id: target.waba_id,
      phone_number_id: target.phone_number_id,
      message_id: result.message_id,
      ...(result.message_status !== undefined && { message_status: result.message_status }),
      kind: content.kind,
      ...(content.template && { template: content.template }),
      recipient: 'phone' in recipient ? recipient.phone : recipient.bsuid,
      status: 'accepted',
      sent_at: at,
      updated_at: at,
      send: traceOf(call, { head, duration_ms, broadcast: request.request_id !== undefined }),
    })
    .catch((error: unknown) => {
      // The message is sent: an error would invite a second one. Its status event recreates the
      // record.
      deps.log.error({ err: error, request_id }, 'failed to record send');
    });
  const stored = within(RECORD_WAIT_MS, recorded).catch(() => undefined);
  await waitedFor(call.waits, 'mongodb', stored);
  return result;
}

function traceOf(
  { request_id, idempotency, span }: Call,
  answered: { head: AnswerHead | undefined; duration_ms: number; broadcast: boolean },
): SendTrace {
  const { head, duration_ms, broadcast } = answered;
  const trace_id = traceIdOf(span);
  return {
    ...(request_id !== '' && { http_request_id: request_id }),
    ...(idempotency?.given !== undefined && { idempotency_key: idempotency.given }),
    ...(trace_id !== undefined && { trace_id, span_id: span.spanId }),
    ...(broadcast && { broadcast }),
    upstream: {
      http_status: head?.http_status ?? 200,
      duration_ms,
      ...(head?.trace_id !== undefined && { trace_id: head.trace_id }),
    },
  };
}

const TOKEN_REFUSED = 190;

/** For pre-flights. In the background: the error response does not wait for it. */
function noteRefusedToken(
  { refusedTokens, now, log }: SendDependencies,
  target: Target,
  token: string,
  error: unknown,
): void {
  if (!(error instanceof ApiError) || error.upstream_code !== TOKEN_REFUSED) return;
  refusedTokens
    .add(target, token, now())
    .catch((err: unknown) => log.warn({ err }, 'failed to record a refused token'));
}

/**
 * The answer waits this long for the record; the record itself waits in memory for the database.
 */
const RECORD_WAIT_MS = 2_000;

/** A 200 without a usable body leaves the outcome unknown: the message may have been sent. */
function readAnswer(answer: Json): SendResult {
  const [message] = Array.isArray(answer['messages']) ? (answer['messages'] as Json[]) : [];
  const message_id = message?.['id'];
  if (typeof message_id !== 'string' || message_id === '') {
    throw new ApiError(
      'UPSTREAM_ERROR',
      'the upstream accepted the message but returned no message ID',
      {
        retryable: false,
        details: { outcome: 'unknown' },
      },
    );
  }
  const status = message?.['message_status'];
  const contacts = Array.isArray(answer['contacts']) ? (answer['contacts'] as Json[]) : [];
  return {
    message_id,
    // Contract 6.2: present only if delivery is paced; otherwise the upstream says `accepted`.
    message_status: typeof status === 'string' && status !== 'accepted' ? status : undefined,
    contacts: contacts.map((contact) => ({
      input: String(contact['input'] ?? ''),
      wa_id: contact['wa_id'] === undefined ? undefined : String(contact['wa_id']),
      user_id: contact['user_id'] === undefined ? undefined : String(contact['user_id']),
    })),
  };
}
