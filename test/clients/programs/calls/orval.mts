// The ten calls with the functions of orval (fetch).
import * as api from './made/client';
import { BASE_URL, makeCalls, PARTNER_KEY, WABA_ID } from './ten-calls';

// The functions name paths: a fetch of the program adds the address.
const { fetch: send } = globalThis;
globalThis.fetch = (path, options) => send(`${BASE_URL}${String(path)}`, options);
const withKey = { headers: { 'x-partner-key': PARTNER_KEY } };
const withNumber = { headers: { ...withKey.headers, 'x-waba-id': WABA_ID } };

/** The data of a success; throws an error answer. */
async function ok<T extends { status: number; data: unknown }>(call: Promise<T>) {
  const { status, data } = await call;
  if (status >= 300) throw new Error(JSON.stringify(data));
  return data as Extract<T, { status: 200 | 201 }>['data'];
}

void makeCalls({
  register: (body) => ok(api.registerClient(body, withKey)),
  list: (query) => ok(api.listClients(query, withKey)),
  sendText: (body) => ok(api.sendText(body, withNumber)),
  sendTemplate: (body) => ok(api.sendTemplate(body, withNumber)),
  check: (body) => ok(api.checkMessage(body, withNumber)),
  listEvents: (query) => ok(api.listEvents(query, withKey)),
  getTimeline: ({ message_id }) => ok(api.getTimeline(message_id, {}, withKey)),
  getLedger: (query) => ok(api.getLedger(query, withKey)),
  createBroadcast: (body) => ok(api.createBroadcast(body, withNumber)),
});
