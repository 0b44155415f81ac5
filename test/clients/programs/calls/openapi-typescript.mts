// The ten calls with the types of openapi-typescript, made by openapi-fetch.
import createClient from 'openapi-fetch';
import type { paths } from './made/schema';
import { BASE_URL, makeCalls, PARTNER_KEY, WABA_ID } from './ten-calls';

const { GET, POST } = createClient<paths>({
  baseUrl: BASE_URL,
  headers: { 'x-partner-key': PARTNER_KEY },
});
const params = { header: { 'x-waba-id': WABA_ID } };

/** The data of a success; throws an error answer. */
async function ok<T>(call: Promise<{ data?: T; error?: { error: { code: string } } }>): Promise<T> {
  const { data, error } = await call;
  if (data === undefined) throw new Error(error?.error.code);
  return data;
}

void makeCalls({
  register: (body) => ok(POST('/clients/register', { body })),
  list: (query) => ok(GET('/clients', { params: { query } })),
  sendText: (body) => ok(POST('/messages/send', { params, body })),
  sendTemplate: (body) => ok(POST('/messages/template', { params, body })),
  check: (body) => ok(POST('/messages/check', { params, body })),
  listEvents: (query) => ok(GET('/events', { params: { query } })),
  getTimeline: (path) => ok(GET('/messages/{message_id}/timeline', { params: { path } })),
  getLedger: (query) => ok(GET('/usage/ledger', { params: { query } })),
  createBroadcast: (body) => ok(POST('/broadcasts', { params, body })),
});
