// The ten calls with the classes of openapi-generator (typescript-fetch), whose names are in
// camelCase and whose contacts of a broadcast are objects.
import {
  BroadcastsApi,
  Configuration,
  CostsApi,
  EventLogApi,
  MessagesApi,
  OnboardingAndUsageApi,
} from './made';
import { BASE_URL, makeCalls, PARTNER_KEY, WABA_ID } from './ten-calls';

const configuration = new Configuration({ basePath: BASE_URL, apiKey: PARTNER_KEY });
const onboarding = new OnboardingAndUsageApi(configuration);
const messages = new MessagesApi(configuration);
const xWabaId = WABA_ID;

const sent = async (call: Promise<{ messageId: string }>) => ({
  message_id: (await call).messageId,
});
const numberOf = ({ wabaId }: { wabaId: string }) => ({ waba_id: wabaId });

void makeCalls({
  async register({ waba_id, phone_number_id, access_token }) {
    const registered = await onboarding.registerClient({
      registerClientRequest: {
        wabaId: waba_id,
        phoneNumberId: phone_number_id,
        accessToken: access_token,
      },
    });
    return { client: numberOf(registered.client) };
  },
  list: async (query) => ({
    clients: (await onboarding.listClients(query)).clients.map(numberOf),
  }),
  sendText: ({ context, ...body }) =>
    sent(
      messages.sendText({
        xWabaId,
        sendTextRequest: {
          ...body,
          ...(context && { context: { messageId: context.message_id } }),
        },
      }),
    ),
  sendTemplate: (sendTemplateRequest) =>
    sent(messages.sendTemplate({ xWabaId, sendTemplateRequest })),
  check: (checkMessageRequest) => messages.checkMessage({ xWabaId, checkMessageRequest }),
  listEvents: (query) => new EventLogApi(configuration).listEvents(query),
  getTimeline: ({ message_id }) => messages.getTimeline({ messageId: message_id }),
  getLedger: (query) => new CostsApi(configuration).getLedger(query),
  createBroadcast: ({ name, template_name, template_language, contacts }) =>
    new BroadcastsApi(configuration).createBroadcast({
      xWabaId,
      createBroadcastRequest: {
        name,
        templateName: template_name,
        templateLanguage: template_language,
        contacts: contacts.map((one) => (typeof one === 'string' ? { recipient: one } : one)),
      },
    }),
});
