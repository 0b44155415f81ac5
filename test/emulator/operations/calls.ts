// Calls: actions on a call, and the permission to call a customer. No audio is exchanged.
// https://developers.facebook.com/docs/whatsapp/cloud-api/calling
import { numberOf, routesOf, type Call, type Core } from '../core';
import { invalid, upstreamError } from '../errors';
import { metadataOf, seconds } from '../statuses';
import type { BusinessNumber, CallRecord, JsonObject } from '../types';
import { recipientOf } from './message-recipient';
import { requireSendable } from './messages';
import { callbackDataOf, isObject, requiredText, requireOneOf, requireProduct } from './parameters';

const CALLS_MAX = 10_000;
const RINGING_DELAY_MS = 50;

export const callRoutes = routesOf('whatsapp_business_messaging', {
  'POST /:number/calls': act,
});

function act(call: Call): JsonObject {
  const number = numberOf(call);
  requireProduct(call.body);
  requireSendable(number);
  const calling = number.settings['calling'];
  if (!isObject(calling) || calling['status'] !== 'ENABLED') throw upstreamError(138000);
  const action = requiredText(call, 'action');
  requireOneOf(action, 'action', ['connect', 'pre_accept', 'accept', 'reject', 'terminate']);
  if (action === 'connect') return connect(call, number);
  if (action.endsWith('accept')) requireSession(call, 'answer');
  return proceed(call, number, action);
}

function requireSession(call: Call, sdp_type: string): void {
  const session = call.body['session'];
  if (!isObject(session)) throw invalid('The parameter session is required.');
  if (session['sdp_type'] !== sdp_type) {
    throw invalid(`Param session[sdp_type] must be ${sdp_type}`);
  }
  if (typeof session['sdp'] !== 'string' || !session['sdp'].startsWith('v=0')) {
    throw invalid('Param session[sdp] is not a valid session description', {
      data: { details: 'The session description must begin with v=0' },
    });
  }
}

function connect(call: Call, number: BusinessNumber): JsonObject {
  requireSession(call, 'offer');
  const recipient = recipientOf(call, number);
  const biz_opaque_callback_data = callbackDataOf(call.body);
  const peer = recipient.wa_id ?? (recipient.user_id as string);
  const portfolio_id = call.state.accountOf(number).portfolio.id;
  const customer = call.state.customer(portfolio_id, peer);
  if (customer === 'foreign' || !customer.call_permission) throw upstreamError(138006);
  for (const other of call.state.calls.values()) {
    if (other.state === 'ended' || other.phone_number_id !== number.id) continue;
    if (other.peer.user_id === customer.user_id) throw upstreamError(138003);
  }
  const record = addCall(call.core, number, {
    direction: 'BUSINESS_INITIATED',
    peer: { ...(customer.wa_id ? { wa_id: customer.wa_id } : {}), user_id: customer.user_id },
    biz_opaque_callback_data,
  });
  call.core.webhooks.later(RINGING_DELAY_MS, () => reportRinging(call.core, number, record));
  return { messaging_product: 'whatsapp', calls: [{ id: record.id }] };
}

export function addCall(
  core: Core,
  number: BusinessNumber,
  facts: Pick<CallRecord, 'direction' | 'peer' | 'biz_opaque_callback_data'>,
): CallRecord {
  const { calls } = core.state;
  const record: CallRecord = {
    ...facts,
    id: core.ids.call(),
    phone_number_id: number.id,
    state: 'ringing',
    started_at: Date.now(),
  };
  calls.set(record.id, record);
  if (calls.size > CALLS_MAX) calls.delete(calls.keys().next().value as string);
  return record;
}

function notify(core: Core, number: BusinessNumber, part: JsonObject): void {
  const value = { messaging_product: 'whatsapp', metadata: metadataOf(number), ...part };
  core.webhooks.notify(core.state.accountOf(number), { field: 'calls', value });
}

function reportRinging(core: Core, number: BusinessNumber, record: CallRecord): void {
  const { wa_id, user_id } = record.peer;
  notify(core, number, {
    statuses: [
      {
        id: record.id,
        type: 'call',
        status: 'RINGING',
        timestamp: seconds(Date.now()),
        ...(wa_id ? { recipient_id: wa_id } : {}),
        ...(user_id ? { recipient_user_id: user_id } : {}),
        ...callbackData(record),
      },
    ],
  });
}

function callbackData(record: CallRecord): JsonObject {
  const data = record.biz_opaque_callback_data;
  return data === null ? {} : { biz_opaque_callback_data: data };
}

function proceed(call: Call, number: BusinessNumber, action: string): JsonObject {
  const record = call.state.calls.get(requiredText(call, 'call_id'));
  if (!record || record.phone_number_id !== number.id || record.state === 'ended') {
    throw invalid('The call does not exist or has ended');
  }
  if (action === 'accept') record.state = 'accepted';
  if (action === 'reject' || action === 'terminate') {
    const completed = record.state === 'accepted';
    record.state = 'ended';
    call.core.webhooks.later(RINGING_DELAY_MS, () => end(call.core, number, record, completed));
  }
  return { messaging_product: 'whatsapp', success: true };
}

function end(core: Core, number: BusinessNumber, record: CallRecord, completed: boolean): void {
  const now = Date.now();
  const { wa_id } = record.peer;
  const business = String(metadataOf(number)['display_phone_number']);
  const outbound = record.direction === 'BUSINESS_INITIATED';
  notify(core, number, {
    calls: [
      {
        id: record.id,
        ...(outbound ? { from: business } : wa_id ? { from: wa_id } : {}),
        ...(outbound ? (wa_id ? { to: wa_id } : {}) : { to: business }),
        event: 'terminate',
        direction: record.direction,
        status: completed ? 'COMPLETED' : 'FAILED',
        ...(completed
          ? {
              start_time: seconds(record.started_at),
              end_time: seconds(now),
              duration: Math.floor((now - record.started_at) / 1000),
            }
          : {}),
        timestamp: seconds(now),
        ...callbackData(record),
      },
    ],
  });
}
