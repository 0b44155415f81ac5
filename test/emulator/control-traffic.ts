// Control requests that send traffic to the gateway: inbound messages, calls, arbitrary webhooks.
import {
  bad,
  number,
  object,
  onlyKeys,
  text,
  theNumber,
  within,
  type ControlCall,
  type ControlRoute,
} from './control-parts';
import { buildInbound, isBlocked, isCustomerId, type InboundInput } from './inbound';
import { addCall, takeCall } from './operations/calls';
import { escapeNonAscii, type SignatureKind } from './signature';
import { metadataOf, seconds } from './statuses';
import type { JsonObject } from './types';
import { envelope } from './webhooks';

const TIMES_MAX = 10_000;
const CONCURRENCY_MAX = 32;
const SDP = 'v=0\r\no=- 0 0 IN IP4 127.0.0.1';

export const controlTrafficRoutes: readonly ControlRoute[] = [
  { method: 'POST', path: 'inbound', handler: inbound },
  { method: 'POST', path: 'calls', handler: inboundCall },
  { method: 'POST', path: 'calls/take', handler: take },
  { method: 'POST', path: 'webhooks', handler: postWebhook },
  { method: 'GET', path: 'webhooks', handler: ({ core }) => core.webhooks.describe() },
  { method: 'POST', path: 'webhooks/release', handler: release },
  { method: 'POST', path: 'webhooks/verify', handler: verify },
];

async function inbound(call: ControlCall): Promise<JsonObject> {
  const { core, body } = call;
  const record = theNumber(call, text(body, 'phone_number_id'));
  for (const key of ['from', 'bsuid']) {
    const value = text(body, key);
    if (value !== undefined && !isCustomerId(value)) {
      throw bad(`${key} must be a phone number (digits) or a business-scoped user id`);
    }
  }
  const input = body as InboundInput;
  const built = buildInbound(core, record, input);
  const answer = { message_id: built.message_id };
  if (isBlocked(record, built.customer)) {
    return { ...answer, delivered: false, http_status: null, reason: 'blocked' };
  }
  if (built.change['field'] === 'messages') {
    core.state.noteInbound(record, built.customer, built.message_id, Date.now());
  }
  const account = core.state.accountOf(record);
  if (!account.subscribed && input.force !== true) {
    return { ...answer, delivered: false, http_status: null, reason: 'not_subscribed' };
  }
  const result = await core.webhooks.postNow(envelope(account.id, built.change), {
    retry: input.retry !== false,
  });
  return { ...answer, delivered: result.http_status === 200, ...result };
}

/** A customer calls the business; the call is stored, so that it can be accepted. */
async function inboundCall(call: ControlCall): Promise<JsonObject> {
  const { core, body } = call;
  onlyKeys(body, ['phone_number_id', 'from', 'sdp']);
  const record = theNumber(call, text(body, 'phone_number_id'));
  const account = core.state.accountOf(record);
  const from = text(body, 'from') ?? '15550100777';
  const customer = core.state.customerByPhone(account.portfolio.id, from);
  const made = addCall(core, record, {
    direction: 'USER_INITIATED',
    peer: { wa_id: from, user_id: customer.user_id },
    biz_opaque_callback_data: null,
  });
  const metadata = metadataOf(record);
  const value = {
    messaging_product: 'whatsapp',
    metadata,
    contacts: [{ profile: { name: customer.name }, wa_id: from, user_id: customer.user_id }],
    calls: [
      {
        id: made.id,
        from,
        from_user_id: customer.user_id,
        to: metadata['display_phone_number'],
        event: 'connect',
        timestamp: seconds(Date.now()),
        direction: 'USER_INITIATED',
        session: { sdp_type: 'offer', sdp: text(body, 'sdp') ?? SDP },
      },
    ],
  };
  if (!account.subscribed) {
    return { call_id: made.id, delivered: false, http_status: null, reason: 'not_subscribed' };
  }
  const result = await core.webhooks.postNow(envelope(account.id, { field: 'calls', value }), {
    retry: true,
  });
  return { call_id: made.id, delivered: result.http_status === 200, ...result };
}

/** A customer takes a call of the business. */
function take({ core, body }: ControlCall): JsonObject {
  onlyKeys(body, ['call_id', 'sdp']);
  const taken = takeCall(core, text(body, 'call_id') ?? '', text(body, 'sdp') ?? SDP);
  if (!taken) throw bad('No call of the business with this call_id rings');
  return { taken };
}

const SIGNATURES: readonly SignatureKind[] = ['valid', 'invalid', 'missing', 'malformed'];

async function postWebhook({ core, body }: ControlCall): Promise<JsonObject> {
  onlyKeys(body, ['body', 'raw', 'signature', 'times', 'concurrency', 'headers', 'url']);
  const raw = text(body, 'raw');
  if ((raw === undefined) === (body['body'] === undefined)) throw bad('Give either body or raw');
  const sent = raw ?? escapeNonAscii(JSON.stringify(body['body']));
  const signature = (text(body, 'signature') ?? 'valid') as SignatureKind;
  if (!SIGNATURES.includes(signature))
    throw bad(`signature must be one of ${SIGNATURES.join(', ')}`);
  const times = within(number(body, 'times') ?? 1, 'times', TIMES_MAX);
  const concurrency = within(number(body, 'concurrency') ?? 1, 'concurrency', CONCURRENCY_MAX);
  const headers = stringsOf(object(body, 'headers') ?? {});
  const url = text(body, 'url');
  const statuses: Array<number | null> = [];
  let left = times;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const result = await core.webhooks.post(sent, {
        signature,
        headers,
        ...(url === undefined ? {} : { url }),
      });
      statuses.push(result.http_status);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, times) }, worker));
  return { statuses, acknowledged: statuses.filter((status) => status === 200).length };
}

function stringsOf(headers: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}

function release({ core }: ControlCall): JsonObject {
  core.behaviour.change({ hold: false });
  core.webhooks.release();
  return core.webhooks.describe();
}

function verify({ core, body }: ControlCall): Promise<JsonObject> {
  onlyKeys(body, ['url', 'verify_token', 'mode']);
  return core.webhooks.verify(
    text(body, 'url') ?? core.config.webhook_url,
    text(body, 'verify_token') ?? core.config.verify_token,
    text(body, 'mode'),
  );
}
