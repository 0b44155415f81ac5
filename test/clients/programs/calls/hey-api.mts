// The ten calls with the functions of hey-api (fetch).
import * as api from './made';
import { client } from './made/client.gen';
import { BASE_URL, makeCalls, PARTNER_KEY, WABA_ID } from './ten-calls';

client.setConfig({ baseUrl: BASE_URL, auth: PARTNER_KEY });
const headers = { 'x-waba-id': WABA_ID };
const throwOnError = true;

const ok = async <T,>(call: Promise<{ data: T }>): Promise<T> => (await call).data;

void makeCalls({
  register: (body) => ok(api.registerClient({ throwOnError, body })),
  list: (query) => ok(api.listClients({ throwOnError, query })),
  sendText: (body) => ok(api.sendText({ throwOnError, headers, body })),
  sendTemplate: (body) => ok(api.sendTemplate({ throwOnError, headers, body })),
  check: (body) => ok(api.checkMessage({ throwOnError, headers, body })),
  listEvents: (query) => ok(api.listEvents({ throwOnError, query })),
  getTimeline: (path) => ok(api.getTimeline({ throwOnError, path })),
  getLedger: (query) => ok(api.getLedger({ throwOnError, query })),
  createBroadcast: (body) => ok(api.createBroadcast({ throwOnError, headers, body })),
});
