// The ten calls of those programs in TypeScript whose generators keep the names of the document and
// each have a way of their own to make a call.
declare const process: { env: Record<string, string> };

export const { BASE_URL, PARTNER_KEY, WABA_ID, PHONE_NUMBER_ID, ACCESS_TOKEN, CONTACT } =
  process.env;

type Template = { name: string; language: string };
type Sent = { message_id: string };

/** What the code of a generator does: it takes a body, a query or a path and returns the answer. */
interface Api {
  register(body: {
    waba_id: string;
    phone_number_id: string;
    access_token: string;
  }): Promise<{ client: { waba_id: string } }>;
  list(query: { limit: number }): Promise<{ clients: Array<{ waba_id: string }> }>;
  sendText(body: { to: string; text: string; context?: Sent }): Promise<Sent>;
  sendTemplate(body: { to: string; template: Template }): Promise<Sent>;
  check(body: {
    kind: 'template';
    to: string;
    template: Template;
  }): Promise<{ deliverable: string }>;
  listEvents(query: {
    event: string;
    wait: number;
  }): Promise<{ events: Array<{ envelope: { data: Record<string, unknown> } }> }>;
  getTimeline(path: Sent): Promise<{ message: { kind: string } }>;
  /** The answer is a text if the Accept header prefers CSV. */
  getLedger(query: { limit: number }): Promise<string | { limit: number }>;
  createBroadcast(body: {
    name: string;
    template_name: string;
    template_language: string;
    contacts: Array<string | { recipient: string }>;
  }): Promise<{ total: number }>;
}

/** Makes the calls and prints what the test compares. */
export async function makeCalls(api: Api): Promise<void> {
  const to = CONTACT;
  const registered = await api.register({
    waba_id: WABA_ID,
    phone_number_id: PHONE_NUMBER_ID,
    access_token: ACCESS_TOKEN,
  });
  const listed = await api.list({ limit: 10 });
  const text = await api.sendText({ to, text: 'Hello' });
  const context = { message_id: text.message_id };
  const quote = await api.sendText({ to, text: 'Again', context });
  const hello = { name: 'hello_world', language: 'en_US' };
  const template = await api.sendTemplate({ to, template: hello });
  const check = await api.check({ kind: 'template', to, template: hello });
  const events = await api.listEvents({ event: 'message.sent', wait: 20 });
  const timeline = await api.getTimeline(context);
  const ledger = await api.getLedger({ limit: 5 });
  const broadcast = await api.createBroadcast({
    name: 'Autumn',
    template_name: hello.name,
    template_language: hello.language,
    contacts: [to, { recipient: '15550100778' }],
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
      ledger: typeof ledger === 'string' ? ledger : ledger.limit,
      broadcast: broadcast.total,
    }),
  );
}
