// Every row that asks the upstream, every question that it asks, every way in which the upstream may fail:
// the outcome is the contract's, nothing is repeated but reads, and no token comes back.
import { randomBytes } from 'node:crypto';
import { endpoints } from '../../gateway/src/endpoints';
import type { Endpoint } from '../../gateway/src/endpoints/endpoint';
import { documentPath, operationName } from '../../gateway/src/openapi';
import { joinMesh, type Mesh } from '../harness/shared-mesh';
import { CASES } from './endpoint-cases';
import { createCaseTally } from './endpoint-golden';
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

/** Long enough for a busy machine, short enough to wait for it some dozen times. */
const UPSTREAM_TIMEOUT_MS = 1_000;
/** Rows are tried side by side, each lane with accounts of its own, so that no fault hits another row. */
const LANES = 6;
/** These ask questions that name no account: all in one lane. */
const SHARED_PATHS = ['registerFromCode', 'uploadHeader', 'downloadMedia', 'downloadContactMedia'];
/** Answered from what the service itself has stored. */
const ASKS_NOBODY = [
  'cancelBroadcast',
  'createConnectSession',
  'getBroadcast',
  'getEmbeddedSignupConfig',
  'getUsage',
  'listBroadcasts',
  'listClients',
  'listFailedEvents',
  'listOnboardingEvents',
  'lookupContact',
  'retryAllEvents',
  'retryEvent',
];
const TABLE_LIMIT_MS = 300_000;
const UPSTREAM_CALLERS = ['onboarding', 'messaging', 'templates', 'number-admin'] as const;

let mesh: Mesh;
let files: FileServer;
let outcomes: Map<string, string[]>;
let tried = 0;
const tally = createCaseTally();

const rows = endpoints.filter((endpoint) => !ASKS_NOBODY.includes(operationName(endpoint)));

beforeAll(async () => {
  mesh = await joinMesh({ UPSTREAM_TIMEOUT_MS: String(UPSTREAM_TIMEOUT_MS) }, UPSTREAM_CALLERS);
  await mesh.emulator.limits({ rate_per_sec: 'off' });
  // Nobody looks at what comes back by webhooks here.
  await mesh.emulator.behaviour({
    statuses: { sent: false, delivered: false, read: false },
    sync: { contacts: 0, messages_per_phase: 0, media_followup: false },
  });
  files = await startFiles();
  outcomes = await tryAll();
}, TABLE_LIMIT_MS);
afterAll(async () => {
  await mesh.stop();
  await files.close();
}, 60_000);

test.each(rows.map((row) => [`${row.verb} ${documentPath(row)}`, row] as const))(
  '%s',
  (_route, endpoint) => {
    expect(outcomes.get(operationName(endpoint))).toEqual([]);
  },
);

test('and that was a table of its size, which gateway/ENDPOINTS.md shows', () => {
  expect(tried).toBeGreaterThan(rows.length * KINDS.length);
  tally.expectGolden(['upstream_failures']);
});

describe('what is not one failure', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await createStage(mesh, files);
  }, 30_000);

  const call = (method: string, path: string, body: object) =>
    stage.partner.call(method, path, body, { 'x-waba-id': stage.one.waba_id });

  test('blocking of which a part fails is an answer with both lists', async () => {
    const { status, body } = await call('POST', '/blocked', { users: [ADA, '15550100999'] });
    expect([status, body.success]).toEqual([200, true]);
    expect(body.blocked).toEqual([{ input: ADA, wa_id: ADA }]);
    expect(body.failed).toMatchObject([{ input: '15550100999', errors: [{ code: 131047 }] }]);
    const again = await call('DELETE', '/blocked', { users: ['15550100999', ADA] });
    expect([again.status, again.body.unblocked.length, again.body.failed.length]).toEqual([
      200, 1, 1,
    ]);
  });

  test('blocking of which all fails is one too', async () => {
    const { status, body } = await call('POST', '/blocked', { users: ['15550100999'] });
    expect([status, body.blocked, body.failed.length]).toEqual([200, [], 1]);
  });

  test('a removal from a group of which a part fails is an answer that says so', async () => {
    const { cloud } = stage;
    const { id } = await mesh.emulator.group({
      phone_number_id: cloud.phone_number_id,
      participants: [{ wa_id: ADA }],
    });
    await mesh.emulator.fault({
      match: { method: 'DELETE', path: '/participants$' },
      error: { status: 206, code: 131201, message: '(#131201) Partial success' },
    });
    const { status, body } = await stage.partner.call(
      'DELETE',
      `/groups/${encodeURIComponent(id)}/participants`,
      { participants: [ADA, '15550100999'] },
      { 'x-waba-id': cloud.waba_id },
    );
    expect([status, body]).toMatchObject([
      200,
      { success: true, group: { partial_failure: { upstream_code: 131201 } } },
    ]);
  });

  test('a refresh with a token that the upstream refuses leaves the old one in place', async () => {
    const { waba_id } = stage.one;
    const refused = await stage.partner.call('POST', `/clients/${waba_id}/refresh`, {
      access_token: 'EMULATED-TOKEN-INVALID',
    });
    expect([refused.status, refused.body.error.upstream_code]).toEqual([502, 190]);
    expect((await call('POST', '/messages/send', { to: ADA, text: 'Hello' })).status).toBe(200);
  });
});

/** What was unexpected, by row. */
async function tryAll(): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const queue = rows.filter((row) => !SHARED_PATHS.includes(operationName(row)));
  const shared = rows.filter((row) => SHARED_PATHS.includes(operationName(row)));
  await Promise.all(
    Array.from({ length: LANES }, async (_unused, lane) => {
      const stage = await createStage(mesh, files);
      const mine = lane === 0 ? [...shared] : [];
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
  (await CASES[operationName(endpoint)]?.prepare?.(stage)) ?? {};

const unique = (asked: Question[]): Question[] =>
  asked.filter(
    ({ method, path }, at) =>
      asked.findIndex((one) => one.method === method && one.path === path) === at,
  );

/** The same question about what was prepared anew: the values of a request are found in its path. */
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

/** A request under a trace of its own, by which its questions are found in the emulator's log. */
async function ask(
  stage: Stage,
  endpoint: Endpoint,
  given: Given,
): Promise<{ answer: TableAnswer; asked: Question[] }> {
  const trace_id = randomBytes(16).toString('hex');
  const since = new Date().toISOString();
  const request = requestOf(endpoint, stage, given);
  const traceparent = `00-${trace_id}-00f067aa0ba902b7-00`;
  const answer = await send(stage, {
    ...request,
    headers: { ...request.headers, traceparent },
  }).catch(cutOff);
  const asked = (await mesh.emulator.requests({ since }))
    .filter(({ headers }) => headers['traceparent']?.includes(trace_id))
    .map(({ method, path }): Question => ({ method, path }));
  return { answer, asked };
}

/** A file that ends before its length: there is no whole answer to look at. */
const cutOff = (): TableAnswer => ({
  status: CUT_OFF,
  headers: new Headers(),
  type: '',
  text: '',
  body: undefined,
});

/** An upload session has another name each time. */
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
    ...(same.length === 0 ? ['the fault was never met'] : []),
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

/** Only reads are ever repeated, and once; a code is spent by asking; both syncs are asked on one path. */
function timesAllowed({ method, path }: Question): number {
  if (path.endsWith('/oauth/access_token')) return 1;
  return method === 'GET' || path.endsWith('/smb_app_data') ? 2 : 1;
}
