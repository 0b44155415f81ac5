// The ten calls with the classes of openapi-generator (typescript-fetch), whose contacts of a
// broadcast are objects.
import {
  BroadcastsApi,
  Configuration,
  CostsApi,
  EventLogApi,
  MessagesApi,
  OnboardingAndUsageApi,
} from './made';

declare const process: { env: Record<string, string> };

const { BASE_URL, PARTNER_KEY, WABA_ID, PHONE_NUMBER_ID, ACCESS_TOKEN, CONTACT: to } = process.env;
const configuration = new Configuration({ basePath: BASE_URL, apiKey: PARTNER_KEY });
const onboarding = new OnboardingAndUsageApi(configuration);
const messages = new MessagesApi(configuration);
const xWabaId = WABA_ID;

async function main(): Promise<void> {
  const registered = await onboarding.registerClient({
    registerClientRequest: {
      wabaId: WABA_ID,
      phoneNumberId: PHONE_NUMBER_ID,
      accessToken: ACCESS_TOKEN,
    },
  });
  const listed = await onboarding.listClients({ limit: 10 });
  const text = await messages.sendText({ xWabaId, sendTextRequest: { to, text: 'Hello' } });
  const quote = await messages.sendText({
    xWabaId,
    sendTextRequest: { to, text: 'Again', context: { messageId: text.messageId } },
  });
  const template = await messages.sendTemplate({
    xWabaId,
    sendTemplateRequest: { to, template: { name: 'hello_world', language: 'en_US' } },
  });
  const check = await messages.checkMessage({
    xWabaId,
    checkMessageRequest: {
      kind: 'template',
      to,
      template: { name: 'hello_world', language: 'en_US' },
    },
  });
  const events = await new EventLogApi(configuration).listEvents({
    event: 'message.sent',
    wait: 20,
  });
  const timeline = await messages.getTimeline({ messageId: text.messageId });
  const ledger = await new CostsApi(configuration).getLedger({ limit: 5 });
  const broadcast = await new BroadcastsApi(configuration).createBroadcast({
    xWabaId,
    createBroadcastRequest: {
      name: 'Autumn',
      templateName: 'hello_world',
      templateLanguage: 'en_US',
      contacts: [{ recipient: to }, { recipient: '15550100778' }],
    },
  });
  console.log(
    JSON.stringify({
      register: registered.client.wabaId,
      list: listed.clients[0]?.wabaId,
      text: text.messageId,
      quote: quote.messageId,
      template: template.messageId,
      check: check.deliverable,
      events: events.events[0]?.envelope.data['message_id'],
      timeline: timeline.message.kind,
      ledger: ledger.limit,
      broadcast: broadcast.total,
    }),
  );
}

void main();
