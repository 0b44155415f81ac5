// The ten calls with the functions of orval (fetch).
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
} from './made/client';

declare const process: { env: Record<string, string> };

const { BASE_URL, PARTNER_KEY, WABA_ID, PHONE_NUMBER_ID, ACCESS_TOKEN, CONTACT: to } = process.env;
const template_name = 'hello_world';
const language = 'en_US';

// The functions name paths: a fetch of the program adds the address.
const { fetch: send } = globalThis;
globalThis.fetch = (path, options) => send(`${BASE_URL}${String(path)}`, options);
const withKey = { headers: { 'x-partner-key': PARTNER_KEY } };
const withNumber = { headers: { ...withKey.headers, 'x-waba-id': WABA_ID } };

/** The data of a success; throws an error answer. */
function ok<T extends { status: number; data: unknown }>(
  answer: T,
): Extract<T, { status: 200 | 201 }>['data'] {
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.data));
  return answer.data as Extract<T, { status: 200 | 201 }>['data'];
}

async function main(): Promise<void> {
  const registered = ok(
    await registerClient(
      { waba_id: WABA_ID, phone_number_id: PHONE_NUMBER_ID, access_token: ACCESS_TOKEN },
      withKey,
    ),
  );
  const listed = ok(await listClients({ limit: 10 }, withKey));
  const text = ok(await sendText({ to, text: 'Hello' }, withNumber));
  const context = { message_id: text.message_id };
  const quote = ok(await sendText({ to, text: 'Again', context }, withNumber));
  const hello = { name: template_name, language };
  const template = ok(await sendTemplate({ to, template: hello }, withNumber));
  const check = ok(await checkMessage({ kind: 'template', to, template: hello }, withNumber));
  const events = ok(await listEvents({ event: 'message.sent', wait: 20 }, withKey));
  const timeline = ok(await getTimeline(text.message_id, {}, withKey));
  const ledger = ok(await getLedger({ limit: 5 }, withKey));
  // Another Accept header makes it a text.
  if (typeof ledger === 'string') throw new Error('the ledger is no JSON');
  const broadcast = ok(
    await createBroadcast(
      {
        name: 'Autumn',
        template_name,
        template_language: language,
        contacts: [to, { recipient: '15550100778' }],
      },
      withNumber,
    ),
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
