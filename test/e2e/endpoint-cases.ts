// Prepared state and field overrides that a successful request needs beyond the example of its
// docs. Endpoints that are not listed succeed with only the example.
import { eventually } from '../testkit/eventually';
import { ONE, type SeededNumber } from '../harness/shared-mesh';
import { createBroadcast, detailOf, people } from './broadcast-support';
import { ADA, newAccount, type Given, type Stage } from './endpoint-stage';

/** Prepares fresh state for each request. */
type Prepare = (stage: Stage) => Promise<Given> | Given;

let count = 0;
/** A name that is not in use. */
const unique = (prefix: string): string => `${prefix}_${(count += 1)}`;

const seeded: Prepare = () => ({ number: ONE });
const cloud: Prepare = (stage) => ({ number: stage.cloud });

const picture = ({ files }: Stage): Given => ({
  body: { url: `${files.url}/${unique('plant')}.jpg`, mime_type: 'image/jpeg' },
});

async function storedMedia({ mesh, one }: Stage): Promise<Given> {
  const { id } = await mesh.emulator.media({
    phone_number_id: one.phone_number_id,
    mime_type: 'image/png',
    size_bytes: 2_048,
  });
  return { params: { media_id: id } };
}

/** Creates an object, on the first number of the stage; returns the answer. */
const created = async ({ partner, one }: Stage, path: string, given: object): Promise<any> =>
  (await partner.call('POST', path, given, { 'x-waba-id': one.waba_id })).body;

async function qrCode(stage: Stage): Promise<Given> {
  const { code } = await created(stage, '/qr-codes', { prefilled_message: 'Hello!' });
  return { params: { code } };
}

async function broadcast(stage: Stage): Promise<Given> {
  const { broadcast_id } = await created(stage, '/broadcasts', laterBroadcast());
  return { params: { broadcast_id: String(broadcast_id) } };
}

/** At 20 messages a second, three seconds of work: the request comes before the end. */
const RUNNING_CONTACTS = 60;

async function runningBroadcast({ partner, one }: Stage): Promise<Given> {
  const id = await createBroadcast(partner, one, people(RUNNING_CONTACTS));
  await eventually(async () => (await detailOf(partner, id)).status === 'processing');
  return { params: { broadcast_id: String(id) } };
}

async function pausedBroadcast(stage: Stage): Promise<Given> {
  const given = await runningBroadcast(stage);
  await stage.partner.call('POST', `/broadcasts/${given.params?.['broadcast_id']}/pause`);
  return given;
}

/** More contacts than any other case sends to, so that the setting concerns this broadcast only. */
const APPROVED_ABOVE = RUNNING_CONTACTS;

/** Created with the partner key, so that any person may approve it. */
async function unapprovedBroadcast({ partner, one, owner }: Stage): Promise<Given> {
  const set = (above: number | null) => owner?.call('PUT', '/v1/broadcast-approval', { above });
  await set(APPROVED_ABOVE);
  const id = await createBroadcast(partner, one, people(APPROVED_ABOVE + 1), {
    scheduled_at: laterBroadcast().scheduled_at,
  });
  await set(null);
  return { params: { broadcast_id: String(id) } };
}

/** A time far enough ahead that no message is sent while the test runs. */
const laterBroadcast = () => ({
  name: 'Later',
  template_name: 'hello_world',
  template_language: 'en_US',
  contacts: [ADA, { recipient: '15550100778' }],
  scheduled_at: new Date(Date.now() + 86_400_000).toISOString(),
});

const UNVERIFIED = {
  status: 'UNVERIFIED',
  code_verification_status: 'NOT_VERIFIED',
  registered: false,
};

/** Adds a number in the given state to the first account. */
async function otherNumber({ mesh, one }: Stage, number: object): Promise<Given['body']> {
  const { id } = await mesh.emulator.createNumber({ waba_id: one.waba_id, ...number });
  return { phone_number_id: id as string };
}

async function group({ mesh, cloud: number }: Stage): Promise<Given> {
  const { id } = await mesh.emulator.group({
    phone_number_id: number.phone_number_id,
    participants: [{ wa_id: ADA }],
  });
  return { number, params: { group_id: id } };
}

async function registered({ mesh, partner }: Stage): Promise<SeededNumber> {
  const number = await newAccount(mesh);
  await partner.register(number);
  return number;
}

async function template({ mesh, one }: Stage): Promise<string> {
  const { id } = await mesh.emulator.template({ waba_id: one.waba_id, name: unique('news') });
  return id;
}

let customers = 0;
/**
 * A customer who has not written before: an event waits behind a refused one of its conversation.
 */
const newCustomer = (): string => `1555${3_000_000 + (customers += 1)}`;

/** An event that the receiver refuses, so that it is in the failed list. */
async function failedEvent({ mesh, partner, one }: Stage): Promise<Given> {
  partner.receiver.behave((_arrival, response) => void response.writeHead(503).end());
  try {
    await mesh.emulator.inbound({
      phone_number_id: one.phone_number_id,
      from: newCustomer(),
      text: unique('failed'),
    });
    const event_id = await eventually(async () => {
      const { body } = await partner.call('GET', '/webhooks/failed?limit=100');
      return (body.events as Array<{ event_id: string }>).at(-1)?.event_id;
    });
    return { params: { event_id } };
  } finally {
    partner.receiver.behave(undefined);
  }
}

/** An event that is in the log: it is written some time after the first attempt. */
async function loggedEvent(stage: Stage): Promise<Given> {
  const given = await failedEvent(stage);
  await eventually(async () => {
    const { status } = await stage.partner.call('GET', `/events/${given.params?.['event_id']}`);
    return status === 200;
  });
  return given;
}

async function replayable(stage: Stage): Promise<Given> {
  const { params } = await loggedEvent(stage);
  return { body: { event_ids: [params?.['event_id']] } };
}

/** A key that no one uses. */
async function apiKey(stage: Stage): Promise<Given> {
  const { key } = await created(stage, '/keys', { name: 'A key', scopes: ['read'] });
  return { params: { key_id: key.key_id } };
}

/**
 * An address that no one has. It has no digits, as the test of the audit log wants: it is no
 * secret.
 */
const newEmail = (): string =>
  `person.${String((count += 1)).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] as string)}@example.com`;

async function person(stage: Stage): Promise<Given> {
  const { person: invited } = await created(stage, '/people', {
    email: newEmail(),
    role: 'support',
  });
  return { params: { person_id: invited.person_id } };
}

/** Ends those of the requests before: their number is bounded, and they get the stage's events. */
async function endEndpoints({ partner }: Stage): Promise<void> {
  const { body } = await partner.call('GET', '/webhook-endpoints');
  for (const { endpoint_id } of body.endpoints as Array<{ endpoint_id: string }>) {
    await partner.call('DELETE', `/webhook-endpoints/${endpoint_id}`);
  }
}

async function newEndpoint(stage: Stage): Promise<Given> {
  await endEndpoints(stage);
  return { body: { url: stage.partner.receiver.url, events: ['webhook.*'] } };
}

async function webhookEndpoint(stage: Stage): Promise<Given> {
  const { body = {} } = await newEndpoint(stage);
  const { endpoint } = await created(stage, '/webhook-endpoints', body);
  return { params: { endpoint_id: endpoint.endpoint_id } };
}

/** Stops the one that runs: a partner has one at a time. */
async function newShadow({ partner }: Stage): Promise<Given> {
  const { body } = await partner.call('GET', '/webhook-shadows');
  for (const { shadow_id } of body.shadows as Array<{ shadow_id: string }>) {
    await partner.call('POST', `/webhook-shadows/${shadow_id}/stop`);
  }
  return { body: { url: `${partner.receiver.url}?shadow`, hours: 1 } };
}

async function webhookShadow(stage: Stage): Promise<Given> {
  const { body = {} } = await newShadow(stage);
  const { shadow } = await created(stage, '/webhook-shadows', body);
  return { params: { shadow_id: shadow.shadow_id } };
}

/** The content types of answers that are no JSON. */
export const TYPES: Readonly<Record<string, string>> = {
  downloadMedia: 'image/png',
  downloadContactMedia: 'image/png',
};

export const CASES: Readonly<Record<string, Prepare>> = {
  // Onboarding and usage.
  async registerFromCode({ mesh }) {
    const number = await newAccount(mesh, { is_on_biz_app: true });
    const { code } = await mesh.emulator.code({ token: number.access_token });
    return { number, body: { code, display_name: 'By code' } };
  },
  async registerClient({ mesh }) {
    return { body: { ...(await newAccount(mesh, { is_on_biz_app: true })) } };
  },
  async deleteClient(stage) {
    return { params: { waba_id: (await registered(stage)).waba_id } };
  },
  refreshClient: ({ one }) => ({ params: { waba_id: one.waba_id } }),
  resubscribeWebhook: ({ one }) => ({ params: { waba_id: one.waba_id } }),
  // Messages.
  async sendReaction({ mesh, one }) {
    const { phone_number_id } = one;
    const { message_id } = await mesh.emulator.inbound({ phone_number_id, from: ADA });
    return { body: { to: ADA, message_id, emoji: '👍' } };
  },
  async getTimeline(stage) {
    const { message_id } = await created(stage, '/messages/send', { to: ADA, text: 'Hello' });
    return { params: { message_id } };
  },
  // Media and contacts.
  uploadMedia: picture,
  downloadMedia: storedMedia,
  downloadContactMedia: storedMedia,
  lookupContact: () => ({ params: { phone: ADA } }),
  // Templates.
  createTemplate: () => ({
    body: {
      name: unique('table_template'),
      language: 'en_US',
      category: 'UTILITY',
      components: [{ type: 'BODY', text: 'Hello' }],
    },
  }),
  uploadHeader: picture,
  getTemplate: async (stage) => ({ params: { template_name: await template(stage) } }),
  updateTemplate: async (stage) => ({ params: { template_name: await template(stage) } }),
  getTemplateAnalytics: async (stage) => ({ query: { template_ids: await template(stage) } }),
  async deleteTemplate({ mesh, one }) {
    const name = unique('old_template');
    await mesh.emulator.template({ waba_id: one.waba_id, name });
    return { params: { template_name: name } };
  },
  updateWebhook: ({ partner }) => ({
    body: { webhook_url: partner.receiver.url, extra_events: [] },
  }),
  // Broadcasts.
  async createBroadcast({ mesh, one }) {
    // Templates are cached for a while, so this one is new.
    const template_name = unique('news');
    await mesh.emulator.template({ waba_id: one.waba_id, name: template_name });
    return { body: { ...laterBroadcast(), template_name } };
  },
  getBroadcast: broadcast,
  cancelBroadcast: broadcast,
  pauseBroadcast: runningBroadcast,
  resumeBroadcast: pausedBroadcast,
  approveBroadcast: unapprovedBroadcast,
  setBroadcastApproval: () => ({ body: { above: APPROVED_ABOVE } }),
  // Number setup.
  updateQrCode: qrCode,
  deleteQrCode: qrCode,
  async unblockUsers(stage) {
    await created(stage, '/blocked', { users: [ADA] });
    return {};
  },
  // Account and diagnostics: the seeded account has data to show.
  getWaba: seeded,
  listActivities: seeded,
  listAssignedUsers: seeded,
  listSolutions: seeded,
  listSchedules: seeded,
  listFlows: seeded,
  getFlow: () => ({ number: ONE, params: { flow_id: '110000000000001' } }),
  // Phone number lifecycle: each on a new number, because the platform limits the attempts per
  // number.
  async requestCode(stage) {
    const number = await otherNumber(stage, UNVERIFIED);
    return { body: { code_method: 'SMS', language: 'en_US', ...number } };
  },
  async verifyCode(stage) {
    const code = '123456';
    const number = await otherNumber(stage, { ...UNVERIFIED, verification_code: code });
    return { body: { code, ...number } };
  },
  async registerPhone(stage) {
    const number = await otherNumber(stage, { status: 'PENDING', registered: false });
    return { body: { pin: '246810', ...number } };
  },
  async deregisterPhone(stage) {
    return { body: { confirm: true, ...(await otherNumber(stage, {})) } };
  },
  // Calling and groups.
  async placeCall({ mesh, cloud: number }) {
    const wa_id = `1555${String((count += 1)).padStart(7, '0')}`;
    await mesh.emulator.customer({ waba_id: number.waba_id, wa_id, call_permission: true });
    const session = { sdp_type: 'offer', sdp: 'v=0\r\ns=-\r\n' };
    return { number, body: { action: 'connect', to: wa_id, session } };
  },
  listGroups: cloud,
  createGroup: cloud,
  getGroup: group,
  deleteGroup: group,
  removeGroupParticipants: group,
  // Webhook recovery.
  async listFailedEvents(stage) {
    await failedEvent(stage);
    return {};
  },
  retryEvent: failedEvent,
  // API keys.
  createKey: ({ one }) => ({
    body: {
      name: unique('key'),
      scopes: ['send'],
      waba_ids: [one.waba_id],
      addresses: ['203.0.113.0/24'],
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    },
  }),
  getKey: apiKey,
  updateKey: apiKey,
  rotateKey: apiKey,
  revokeKey: apiKey,
  // People.
  invitePerson: () => ({ body: { email: newEmail(), role: 'developer' } }),
  getPerson: person,
  updatePerson: person,
  removePerson: person,
  renewInvitation: person,
  // Webhook endpoints.
  createEndpoint: newEndpoint,
  getEndpoint: webhookEndpoint,
  updateEndpoint: webhookEndpoint,
  deleteEndpoint: webhookEndpoint,
  rotateEndpointSecret: webhookEndpoint,
  testEndpoint: webhookEndpoint,
  listEndpointAttempts: webhookEndpoint,
  // Shadow receivers.
  startShadow: newShadow,
  getShadow: webhookShadow,
  stopShadow: webhookShadow,
  // Event log.
  async listEvents(stage) {
    await failedEvent(stage);
    return {};
  },
  getEvent: loggedEvent,
  replayEvents: replayable,
  async getReplay(stage) {
    const { body } = await replayable(stage);
    // One replay of a partner runs at a time.
    const replay_id = await eventually(
      async () => (await created(stage, '/events/replay', body as object)).replay_id as string,
    );
    return { params: { replay_id } };
  },
};
