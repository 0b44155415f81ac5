// The whole service over gRPC, with the emulator as upstream, its own directory and Redis
// unavailable.
import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { loadConfig } from '@bmg/common/config';
import { startService, type Running } from '@bmg/common/lifecycle';
import {
  createRpcClient,
  createRpcServer,
  implement,
  type Call,
  type Handlers,
  type RpcClient,
  type RpcServer,
} from '@bmg/common/rpc';
import { createLogger, startSpan } from '@bmg/common/telemetry';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import { startEmulator, type Emulator } from '../../../test/emulator';
import { eventually } from '../../../test/testkit/eventually';
import { settings } from './config';
import { createNumberAdmin } from './service';

const WABA = '900000000000002';
const COEXISTENCE = '800000000000002';
const CLOUD = '800000000000003';
const PENDING = '800000000000004';
/** Nothing listens there. */
const NOWHERE = '127.0.0.1:9';

let emulator: Emulator;
let directory: RpcServer;
let running: Running;
let client: RpcClient<NumberAdminDefinition>;
const prefix = `t${randomBytes(5).toString('hex')}-`;
const pins = new Map<string, string>();

const target = (phone_number_id: string) => ({
  target: { partner_id: 'par_1', waba_id: WABA, phone_number_id, directory_version: '' },
});
const call = (): Call => ({
  deadline: Date.now() + 60_000,
  span: startSpan('test').spanContext(),
  request_id: 'req-1',
});

const directoryHandlers: Partial<Handlers<DirectoryDefinition>> = {
  async getCredentials({ scopes }) {
    const credential = {
      access_token: 'EMULATED-TOKEN-2',
      sending: 'active',
      phone_number: '15550100002',
      is_on_biz_app: true,
    };
    return { found: scopes.map(() => ({ credential })) };
  },
  async storePin({ phone_number_id, pin }) {
    if (phone_number_id === PENDING) return { stored: false };
    pins.set(phone_number_id, pin);
    return { stored: true };
  },
  getPin: async ({ phone_number_id }) => ({ pin: pins.get(phone_number_id) }),
};

beforeAll(async () => {
  emulator = await startEmulator({ port: 0, webhook_url: `http://${NOWHERE}/` });
  const log = createLogger('test');
  directory = createRpcServer(
    { host: '127.0.0.1', port: 0 },
    [implement(DirectoryDefinition, directoryHandlers as Handlers<DirectoryDefinition>)],
    log,
  );
  const signal = new AbortController().signal;
  await directory.start(signal);
  const service = createNumberAdmin(
    loadConfig(settings, {
      GRPC_HOST: '127.0.0.1',
      GRPC_PORT: '0',
      METRICS_HOST: '127.0.0.1',
      METRICS_PORT: '0',
      DRAIN_MS: '0',
      REDIS_URL: `redis://${NOWHERE}`,
      MONGO_URL: process.env['MONGO_URL'] as string,
      MONGO_DATABASE_PREFIX: prefix,
      UPSTREAM_TIMEOUT_MS: '60000',
      UPSTREAM_URL: emulator.url,
      ONBOARDING_ADDR: `127.0.0.1:${directory.port}`,
      PLATFORM_PIN: '000000',
    }),
  );
  running = await startService(service, log);
  await eventually(() => running.ready());
  client = createRpcClient(NumberAdminDefinition, `127.0.0.1:${service.port()}`);
  await client.start(signal);
});

afterAll(async () => {
  await client.stop();
  await running.stop();
  await directory.stop();
  await emulator.close();
  const mongo = await MongoClient.connect(process.env['MONGO_URL'] as string);
  await mongo.db(`${prefix}number-admin`).dropDatabase();
  await mongo.close();
});

test('diagnoses the account, including its owner’s users', async () => {
  const { rpc } = client;
  const waba = await rpc.getWaba(target(CLOUD), call());
  expect(waba.fields).toMatchObject({ name: 'Example Market' });
  const activities = await rpc.listActivities({ ...target(CLOUD), limit: 200 }, call());
  expect(activities.items.length).toBeGreaterThan(100);
  const users = await rpc.listAssignedUsers(target(CLOUD), call());
  expect(users.items[0]).toMatchObject({ name: 'Ada' });
  const flows = await rpc.listFlows(target(CLOUD), call());
  const flow_id = String(flows.items[0]?.['id']);
  const flow = await rpc.getFlow({ ...target(CLOUD), flow_id }, call());
  expect(flow.fields).toMatchObject({ id: flow_id });
  await expect(rpc.listSolutions(target(CLOUD), call())).resolves.toBeDefined();
  await expect(rpc.listSchedules(target(CLOUD), call())).resolves.toEqual({ items: [] });
});

test('creates, changes, lists and deletes a QR code', async () => {
  const { rpc } = client;
  const { code } = await rpc.createQrCode(
    { ...target(CLOUD), prefilled_message: 'Hi', image_format: 'SVG' },
    call(),
  );
  await rpc.updateQrCode({ ...target(CLOUD), code, prefilled_message: 'Hello' }, call());
  const { qr_codes } = await rpc.listQrCodes({ ...target(CLOUD), image_format: 'SVG' }, call());
  const qr_image_url = expect.stringContaining('.svg');
  expect(qr_codes).toMatchObject([{ code, prefilled_message: 'Hello', qr_image_url }]);
  await rpc.deleteQrCode({ ...target(CLOUD), code }, call());
  await expect(rpc.deleteQrCode({ ...target(CLOUD), code }, call())).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
    upstream_code: 100,
  });
});

test('reads back the settings of a number', async () => {
  const { rpc } = client;
  const on = target(CLOUD);
  await rpc.updateProfile({ ...on, profile: { about: 'Market', websites: [] } }, call());
  expect((await rpc.getProfile(on, call())).fields).toMatchObject({ about: 'Market' });
  await rpc.updateConversationalAutomation({ ...on, prompts: { items: ['Hours'] } }, call());
  await rpc.updateConversationalAutomation({ ...on, enable_welcome_message: true }, call());
  await expect(rpc.getConversationalAutomation(on, call())).resolves.toEqual({
    enable_welcome_message: true,
    prompts: ['Hours'],
    commands: [],
  });
  await rpc.updateCommerceSettings({ ...on, is_cart_enabled: false }, call());
  await expect(rpc.getCommerceSettings(on, call())).resolves.toEqual({
    is_cart_enabled: false,
    is_catalog_visible: false,
  });
  const changes = {
    calling: { status: 'ENABLED' },
    storage_configuration: { status: 'DEFAULT' },
  };
  await rpc.updateSettings({ ...on, settings: changes }, call());
  expect((await rpc.getSettings(on, call())).fields).toMatchObject(changes);
});

test('reports a user who never wrote as failed in a successful block request', async () => {
  const reply = await client.rpc.blockUsers({ ...target(CLOUD), users: ['15550109999'] }, call());
  expect(reply).toMatchObject({ done: [], failed: [{ errors: [{ code: 131_047 }] }] });
  await expect(client.rpc.listBlocked(target(CLOUD), call())).resolves.toMatchObject({ items: [] });
});

test('brings a pending number online with two-step and register', async () => {
  const { rpc } = client;
  const other = { ...target(CLOUD), phone_number_id: PENDING };
  await expect(rpc.setTwoStepPin({ ...other, pin: '135790' }, call())).resolves.toEqual({
    pin_stored: false,
  });
  // Nothing is stored for it and the platform's PIN is not the one that was set: one attempt,
  // refused.
  await expect(rpc.registerPhone(other, call())).rejects.toMatchObject({ upstream_code: 133_005 });
  await rpc.registerPhone({ ...other, pin: '135790' }, call());
  const { fields } = await rpc.getPhoneStatus(other, call());
  expect(fields).toMatchObject({ status: 'CONNECTED', platform_type: 'CLOUD_API' });
  const stranger = { ...target(CLOUD), phone_number_id: '800000000000001' };
  await expect(rpc.getPhoneStatus(stranger, call())).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    message: 'phone_number_id does not belong to the WABA',
  });
});

test('refuses to deregister a number in coexistence', async () => {
  await expect(client.rpc.deregisterPhone(target(COEXISTENCE), call())).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
    upstream_code: 100,
  });
});

test('starts a call and requests a group', async () => {
  const { rpc } = client;
  const session = { sdp_type: 'offer', sdp: 'v=0\r\n' };
  const placed = await rpc.placeCall(
    { ...target(CLOUD), call: { action: 'connect', to: '15550100777', session } },
    call(),
  );
  expect(placed.fields).toMatchObject({ calls: [{ id: expect.any(String) }] });
  const group = await rpc.createGroup({ ...target(CLOUD), subject: 'Team' }, call());
  expect(group.fields).toEqual({ request_id: expect.any(String) });
  await expect(rpc.listGroups(target(CLOUD), call())).resolves.toBeDefined();
});
