// The ten calls with the types of openapi-typescript, made by openapi-fetch.
import createClient from 'openapi-fetch';
import type { paths } from './made/schema';

declare const process: { env: Record<string, string> };

const { BASE_URL, PARTNER_KEY, WABA_ID, PHONE_NUMBER_ID, ACCESS_TOKEN, CONTACT: to } = process.env;
const client = createClient<paths>({
  baseUrl: BASE_URL,
  headers: { 'x-partner-key': PARTNER_KEY },
});
const params = { header: { 'x-waba-id': WABA_ID } };
const template_name = 'hello_world';
const language = 'en_US';

/** The data of a success; throws an error answer. */
async function ok<T>(call: Promise<{ data?: T; error?: { error: { code: string } } }>): Promise<T> {
  const { data, error } = await call;
  if (data === undefined) throw new Error(error?.error.code);
  return data;
}

async function main(): Promise<void> {
  const registered = await ok(
    client.POST('/clients/register', {
      body: { waba_id: WABA_ID, phone_number_id: PHONE_NUMBER_ID, access_token: ACCESS_TOKEN },
    }),
  );
  const listed = await ok(client.GET('/clients', { params: { query: { limit: 10 } } }));
  const text = await ok(client.POST('/messages/send', { params, body: { to, text: 'Hello' } }));
  const context = { message_id: text.message_id };
  const quote = await ok(
    client.POST('/messages/send', { params, body: { to, text: 'Again', context } }),
  );
  const hello = { name: template_name, language };
  const template = await ok(
    client.POST('/messages/template', { params, body: { to, template: hello } }),
  );
  const check = await ok(
    client.POST('/messages/check', { params, body: { kind: 'template', to, template: hello } }),
  );
  const events = await ok(
    client.GET('/events', { params: { query: { event: 'message.sent', wait: 20 } } }),
  );
  const timeline = await ok(
    client.GET('/messages/{message_id}/timeline', { params: { path: context } }),
  );
  const ledger = await ok(client.GET('/usage/ledger', { params: { query: { limit: 5 } } }));
  // Another Accept header makes it a text.
  if (typeof ledger === 'string') throw new Error('the ledger is no JSON');
  const broadcast = await ok(
    client.POST('/broadcasts', {
      params,
      body: {
        name: 'Autumn',
        template_name,
        template_language: language,
        contacts: [to, { recipient: '15550100778' }],
      },
    }),
  );
  console.log(
    JSON.stringify({
      register: registered.client.waba_id,
      list: listed.clients[0]?.waba_id,
      text: text.message_id,
      quote: quote.message_id,
      template: template.message_id,
      check: check.deliverable,
      events: events.events[0]?.envelope.data['message_id'],
      timeline: timeline.message.kind,
      ledger: ledger.limit,
      broadcast: broadcast.total,
    }),
  );
}

void main();
