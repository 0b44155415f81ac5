// Control requests that send traffic to the gateway: inbound messages, calls, arbitrary webhooks.
import { bad, object, route, text, theNumber, type ControlCall, type Input } from './control-parts';
import { buildInbound, INBOUND, isBlocked, isCustomerId, type InboundInput } from './inbound';
import { addCall } from './operations/calls';
import { metadataOf, seconds } from './statuses';
import type { Account, JsonObject } from './types';
import { envelope } from './webhooks';

const SDP = 'v=0\r\no=- 0 0 IN IP4 127.0.0.1';

const CALL = { phone_number_id: text, from: text, sdp: text };
const WEBHOOK = { body: object };

export const controlTrafficRoutes = [
  route('POST inbound', INBOUND, inbound),
  route('POST calls', CALL, inboundCall),
  route('POST webhooks', WEBHOOK, postWebhook),
  route('GET webhooks', {}, ({ core }) => core.webhooks.describe()),
  route('POST webhooks/release', {}, release),
];

export type CallInput = Input<typeof CALL>;
export type WebhookInput = Input<typeof WEBHOOK>;

async function inbound(call: ControlCall, input: InboundInput): Promise<JsonObject> {
  const { core } = call;
  const record = theNumber(call, input.phone_number_id);
  for (const value of [input.from, input.bsuid]) {
    if (value !== undefined && !isCustomerId(value)) {
      throw bad(`${value} must be a phone number (digits) or a business-scoped user id`);
    }
  }
  const { message_id, customer, change } = buildInbound(core, record, input);
  if (isBlocked(record, customer)) {
    return { message_id, delivered: false, http_status: null, reason: 'blocked' };
  }
  core.state.noteInbound(record, customer, message_id, Date.now());
  const posted = await post(call, core.state.accountOf(record), change, input);
  return { message_id, ...posted };
}

/** Posts a change at once, if the account is subscribed. */
async function post(
  { core }: ControlCall,
  account: Account,
  change: JsonObject,
  { retry, force = false }: { retry?: boolean | undefined; force?: boolean | undefined } = {},
): Promise<JsonObject> {
  if (!account.subscribed && !force) {
    return { delivered: false, http_status: null, reason: 'not_subscribed' };
  }
  const result = await core.webhooks.postNow(envelope(account.id, change), retry);
  return { delivered: result.http_status === 200, ...result };
}

/** A customer calls the business; the call is stored, so that it can be accepted. */
async function inboundCall(call: ControlCall, input: CallInput): Promise<JsonObject> {
  const { core } = call;
  const { phone_number_id, from = '15550100777', sdp = SDP } = input;
  const record = theNumber(call, phone_number_id);
  const account = core.state.accountOf(record);
  const { user_id, name } = core.state.customerByPhone(account.portfolio.id, from);
  const direction = 'USER_INITIATED';
  const { id } = addCall(core, record, {
    direction,
    peer: { wa_id: from, user_id },
    biz_opaque_callback_data: null,
  });
  const metadata = metadataOf(record);
  const value = {
    messaging_product: 'whatsapp',
    metadata,
    contacts: [{ profile: { name }, wa_id: from, user_id }],
    calls: [
      {
        ...{ id, from, from_user_id: user_id, to: metadata['display_phone_number'] },
        ...{ event: 'connect', timestamp: seconds(Date.now()), direction },
        session: { sdp_type: 'offer', sdp },
      },
    ],
  };
  return { call_id: id, ...(await post(call, account, { field: 'calls', value })) };
}

/** Posts a body once, whatever the account's subscription. */
async function postWebhook({ core }: ControlCall, { body }: WebhookInput): Promise<JsonObject> {
  if (!body) throw bad('body is required');
  const { http_status } = await core.webhooks.post(body);
  return { statuses: [http_status], acknowledged: http_status === 200 ? 1 : 0 };
}

function release({ core }: ControlCall): JsonObject {
  core.behaviour.change({ hold: false });
  core.webhooks.release();
  return core.webhooks.describe();
}
