// Every row that calls the upstream, each of its upstream calls, and every kind of upstream
// failure: the outcome follows the contract, only reads are retried, and no token is in the answer.
import type { Endpoint } from '../../gateway/src/endpoints/endpoint';
import { operationName } from '../../gateway/src/openapi';
import { joinMesh } from '../harness/shared-mesh';
import { CASES } from './endpoint-cases';
import { createCaseTally } from './endpoint-golden';
import { ROWS } from './endpoint-rows';
import {
  ADA,
  createStage,
  requestOf,
  send,
  startFiles,
  type FileServer,
  type Given,
  type Stage,
  type TableAnswer,
} from './endpoint-stage';
import { CUT_OFF, expectedOf, KINDS, problemsOf, type Kind, type Question } from './upstream-rules';
import { useMesh } from './use-mesh';
import { words } from '../testkit/words';

/** Long enough for a busy machine, short enough to wait for it dozens of times. */
const UPSTREAM_TIMEOUT_MS = 2_000;
/** Rows run in parallel lanes with separate accounts, so that no fault hits another row. */
const LANES = 12;
/**
 * Rows whose upstream calls name no account, or the same one: those with the same calls share a
 * lane.
 */
const SHARED_PATHS = [
  ['registerFromCode'],
  ['uploadHeader', 'downloadMedia', 'downloadContactMedia'],
  ['listFlows', 'getFlow'],
];
/** Answered from our own state; the check reads a block list, but never fails without it. */
const WITHOUT_UPSTREAM = words(`
  approveBroadcast cancelBroadcast checkMessage createConnectSession createEndpoint createKey
  deleteEndpoint getBroadcast getBroadcastApproval getEmbeddedSignupConfig getEndpoint getEvent
  getKey getLedger getPerson getReplay getShadow getTimeline getUsage getWebhook invitePerson
  listAudit listBroadcasts listClients listEndpointAttempts listEndpoints listEvents
  listFailedEvents listKeys listMessages listOnboardingEvents listPeople listPrices listShadows
  lookupContact pauseBroadcast removePerson renewInvitation replayEvents resumeBroadcast
  retryAllEvents retryEvent revokeKey rotateEndpointSecret rotateKey rotateWebhookSecret
  setBroadcastApproval startShadow stopShadow testEndpoint updateEndpoint updateKey updatePerson
  updateWebhook
`);
const UPSTREAM_CALLERS = ['onboarding', 'messaging', 'templates', 'number-admin'] as const;

const mesh = useMesh(() =>
  joinMesh({ UPSTREAM_TIMEOUT_MS: String(UPSTREAM_TIMEOUT_MS) }, UPSTREAM_CALLERS),
);
let files: FileServer;
let outcomes: Map<string, string[]>;
let tried = 0;
const tally = createCaseTally();

const asking = ROWS.filter(([, row]) => !WITHOUT_UPSTREAM.includes(operationName(row)));
const rows = asking.map(([, row]) => row);

beforeAll(async () => {
  await mesh.emulator.limits({ rate_per_sec: 'off' });
  // These tests do not read webhooks, so the emulator sends none.
  await mesh.emulator.behaviour({
    statuses: { sent: false, delivered: false, read: false },
    sync: { contacts: 0, messages_per_phase: 0, media_followup: false },
  });
  files = await startFiles();
  outcomes = await tryAll();
});
afterAll(() => files.close());

test.each(asking)('%s', (_route, endpoint) => {
  expect(outcomes.get(operationName(endpoint))).toEqual([]);
});

test('tries every failure on every row and matches the counts in gateway/ENDPOINTS.md', () => {
  expect(tried).toBeGreaterThan(rows.length * KINDS.length);
  tally.expectGolden(['upstream_failures']);
});

test('keeps the old token when the upstream refuses the new one', async () => {
  const { partner, one } = await createStage(mesh, files);
  const access_token = 'EMULATED-TOKEN-INVALID';
  const refused = await partner.call('POST', `/clients/${one.waba_id}/refresh`, { access_token });
  expect([refused.status, refused.body.error.upstream_code]).toEqual([502, 190]);
  const text = { to: ADA, text: 'Hello' };
  const sent = await partner.call('POST', '/messages/send', text, { 'x-waba-id': one.waba_id });
  expect(sent.status).toBe(200);
});

/** Tries all rows and returns the unexpected outcomes by operation. */
async function tryAll(): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const queue = rows.filter((row) => !SHARED_PATHS.flat().includes(operationName(row)));
  await Promise.all(
    Array.from({ length: LANES }, async (_unused, lane) => {
      const stage = await createStage(mesh, files);
      const mine = rows.filter((row) => SHARED_PATHS[lane]?.includes(operationName(row)));
      for (let row = mine.shift() ?? queue.shift(); row; row = mine.shift() ?? queue.shift()) {
        found.set(operationName(row), await tryRow(stage, row));
      }
    }),
  );
  return found;
}

async function tryRow(stage: Stage, endpoint: Endpoint): Promise<string[]> {
  const first = await prepared(stage, endpoint);
  const { answer, asked } = await ask(stage, endpoint, first);
  if (answer.status >= 300) return [`without a fault: ${answer.status} ${answer.text}`];
  if (asked.length === 0) return ['asks the upstream nothing'];
  const problems: string[] = [];
  for (const question of unique(asked)) {
    for (const kind of KINDS) {
      tried += 1;
      const given = await prepared(stage, endpoint);
      const renamed = { ...question, path: rename(question.path, first, given) };
      const found = await tryOne(stage, endpoint, { given, question: renamed, kind });
      if (found.length === 0) tally.add(endpoint, 'upstream_failures');
      const where = `${question.method} ${renamed.path}, ${kind.name}`;
      problems.push(...found.map((problem) => `${where}: ${problem}`));
    }
  }
  return problems;
}

const prepared = async (stage: Stage, endpoint: Endpoint): Promise<Given> =>
  (await CASES[operationName(endpoint)]?.(stage)) ?? {};

const unique = (asked: Question[]): Question[] =>
  asked.filter(
    ({ method, path }, at) =>
      asked.findIndex((one) => one.method === method && one.path === path) === at,
  );

/** Replaces the values of the first request in an upstream path by those of the new request. */
function rename(path: string, before: Given, now: Given): string {
  const olds = textsOf(before);
  const news = textsOf(now);
  return olds.reduce((text, old, at) => text.replace(old, news[at] ?? old), path);
}

const textsOf = ({ params, number, body }: Given): string[] =>
  [params, number, body]
    .flatMap((part) => Object.values(part ?? {}))
    .filter((value): value is string => typeof value === 'string' && value.length > 3)
    .map(encodeURIComponent);

/** Sends a request; its trace ID, which the answer has, finds its calls in the emulator's log. */
async function ask(
  stage: Stage,
  endpoint: Endpoint,
  given: Given,
): Promise<{ answer: TableAnswer; asked: Question[] }> {
  const since = new Date().toISOString();
  const answer = await send(stage, requestOf(endpoint, stage, given)).catch(cutOff);
  const [, trace_id] = answer.headers.get('traceparent')?.split('-') ?? [];
  const asked = (await mesh.emulator.requests({ since }))
    .filter(({ headers }) => trace_id && headers['traceparent']?.includes(trace_id))
    .map(({ method, path }): Question => ({ method, path }));
  return { answer, asked };
}

/** Stands for a file that ends before its length, which has no complete answer. */
const cutOff = ({ headers = new Headers() }: { headers?: Headers }): TableAnswer => ({
  status: CUT_OFF,
  headers,
  type: '',
  text: '',
  body: undefined,
});

/** Each upload session has a different name. */
const pattern = (path: string): string =>
  `^${path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/upload:[^/]+/, 'upload:[^/]+')}$`;

async function tryOne(
  stage: Stage,
  endpoint: Endpoint,
  { given, question, kind }: { given: Given; question: Question; kind: Kind },
): Promise<string[]> {
  const { method, path } = question;
  const match = { method, path: pattern(path) };
  const fault = await mesh.emulator.fault({ ...kind.effect, match, times: -1 });
  const { answer, asked } = await ask(stage, endpoint, given);
  await mesh.emulator.clearFaults(fault.id);
  const same = asked.filter(
    (one) => one.method === method && new RegExp(match.path).test(one.path),
  );
  const expected = expectedOf(operationName(endpoint), question, kind);
  const times = timesAllowed(question);
  return [
    ...problemsOf(answer, expected),
    ...(expected.status >= 400 ? await leftBehind(stage, endpoint, given) : []),
    ...(same.length === 0 ? ['the fault was never triggered'] : []),
    ...(same.length > times ? [`asked ${same.length} times, where ${times} are allowed`] : []),
  ];
}

/** A registration that fails at any step stores nothing. */
async function leftBehind(
  { partner }: Stage,
  endpoint: Endpoint,
  { number, body }: Given,
): Promise<string[]> {
  if (!['registerClient', 'registerFromCode'].includes(operationName(endpoint))) return [];
  const waba_id = number?.waba_id ?? body?.['waba_id'];
  const { body: list } = await partner.call('GET', '/clients?status=all&limit=500');
  const clients = list.clients as Array<{ waba_id: string }>;
  return clients.some((client) => client.waba_id === waba_id) ? ['a client was stored'] : [];
}

/** Only reads are retried, once. A code is valid for one call. Both syncs use the same path. */
function timesAllowed({ method, path }: Question): number {
  if (path.endsWith('/oauth/access_token')) return 1;
  return method === 'GET' || path.endsWith('/smb_app_data') ? 2 : 1;
}
