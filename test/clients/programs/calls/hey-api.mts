// The ten calls with the functions of hey-api (fetch).
import {
  checkMessage,
  createBroadcast,
  getLedger,
  getTimeline,
  listClients,
  listEvents,
  registerClient,
  sendTemplate,
  sendText,
} from './made';
import { client } from './made/client.gen';

declare const process: { env: Record<string, string> };

const { BASE_URL, PARTNER_KEY, WABA_ID, PHONE_NUMBER_ID, ACCESS_TOKEN, CONTACT: to } = process.env;
client.setConfig({ baseUrl: BASE_URL, auth: PARTNER_KEY });
const headers = { 'x-waba-id': WABA_ID };
const throwOnError = true;
const template_name = 'hello_world';
const language = 'en_US';

async function main(): Promise<void> {
  const { data: registered } = await registerClient({
    throwOnError,
    body: { waba_id: WABA_ID, phone_number_id: PHONE_NUMBER_ID, access_token: ACCESS_TOKEN },
  });
  const { data: listed } = await listClients({ throwOnError, query: { limit: 10 } });
  const { data: text } = await sendText({ throwOnError, headers, body: { to, text: 'Hello' } });
  const context = { message_id: text.message_id };
  const { data: quote } = await sendText({
    throwOnError,
    headers,
    body: { to, text: 'Again', context },
  });
  const hello = { name: template_name, language };
  const { data: template } = await sendTemplate({
    throwOnError,
    headers,
    body: { to, template: hello },
  });
  const { data: check } = await checkMessage({
    throwOnError,
    headers,
    body: { kind: 'template', to, template: hello },
  });
  const { data: events } = await listEvents({
    throwOnError,
    query: { event: 'message.sent', wait: 20 },
  });
  const { data: timeline } = await getTimeline({ throwOnError, path: context });
  const { data: ledger } = await getLedger({ throwOnError, query: { limit: 5 } });
  const { data: broadcast } = await createBroadcast({
    throwOnError,
    headers,
    body: {
      name: 'Autumn',
      template_name,
      template_language: language,
      contacts: [to, { recipient: '15550100778' }],
    },
  });
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
