// The whole mesh in one process, on free ports, with databases, topics and keys of its own: real engines,
// the emulator over HTTP, partners over HTTP.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Loaded } from '@bmg/common/config';
import { loadConfig } from '@bmg/common/config';
import { startService, type Running, type Service } from '@bmg/common/lifecycle';
import { createRpcClient, type Call, type Client } from '@bmg/common/rpc';
import { createLogger, unsampled } from '@bmg/common/telemetry';
import { OperatorDefinition, type CreatePartnerResponse } from '@bmg/proto/onboarding';
import { settings as broadcastsSettings } from '../../services/broadcasts/src/config';
import { createBroadcasts } from '../../services/broadcasts/src/service';
import { settings as fanoutSettings } from '../../services/fanout/src/config';
import { createFanout } from '../../services/fanout/src/service';
import { settings as messagingSettings } from '../../services/messaging/src/config';
import { createMessaging } from '../../services/messaging/src/service';
import { settings as numberAdminSettings } from '../../services/number-admin/src/config';
import { createNumberAdmin } from '../../services/number-admin/src/service';
import { settings as onboardingSettings } from '../../services/onboarding/src/config';
import { createOnboarding } from '../../services/onboarding/src/service';
import { settings as templatesSettings } from '../../services/templates/src/config';
import { createTemplates } from '../../services/templates/src/service';
import { settings as webhooksSettings } from '../../services/webhooks/src/config';
import { createWebhooks } from '../../services/webhooks/src/service';
import { settings as gatewaySettings } from '../../gateway/src/config';
import { createGateway } from '../../gateway/src/service';
import { freePort } from '../../deploy/local/src/ports';
import { startEmulator, type Emulator } from '../emulator';
import { startPartner, type PartnerReceiver } from '../testkit/partner';
import { eventually } from '../testkit/eventually';
import { callRest, ONE, type Answer, type SeededNumber } from '../testkit/rest';

export { callRest, ONE, TWO_A, TWO_B, type Answer, type SeededNumber } from '../testkit/rest';

/** A partner with a key, a receiver, and a client of the REST interface. */
export interface TestPartner extends CreatePartnerResponse {
  receiver: PartnerReceiver;
  /** Calls {base_url}; a body makes it JSON. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Registers the seeded number of the emulator. */
  register(number?: SeededNumber): Promise<Answer>;
}

export type ServiceName =
  | 'onboarding'
  | 'messaging'
  | 'templates'
  | 'broadcasts'
  | 'number-admin'
  | 'webhooks'
  | 'fanout'
  | 'gateway';

export interface Mesh {
  base_url: string;
  ingress_url: string;
  emulator: Emulator;
  operator: Client<OperatorDefinition>;
  env: NodeJS.ProcessEnv;
  call(): Call;
  createPartner(
    options?: Partial<{
      name: string;
      rate_limit_per_sec: number;
      max_wabas: number;
      webhook_url: string;
    }>,
  ): Promise<TestPartner>;
  stopService(name: ServiceName): Promise<void>;
  startService(name: ServiceName): Promise<void>;
  stop(): Promise<void>;
}

const CREATE: Record<ServiceName, (env: NodeJS.ProcessEnv) => Service> = {
  onboarding: make(onboardingSettings, createOnboarding),
  messaging: make(messagingSettings, createMessaging),
  templates: make(templatesSettings, createTemplates),
  broadcasts: make(broadcastsSettings, createBroadcasts),
  'number-admin': make(numberAdminSettings, createNumberAdmin),
  webhooks: make(webhooksSettings, createWebhooks),
  fanout: make(fanoutSettings, createFanout),
  gateway: make(gatewaySettings, createGateway),
};

function make<S extends Parameters<typeof loadConfig>[0]>(
  settings: S,
  create: (loaded: Loaded<S>) => Service,
) {
  return (env: NodeJS.ProcessEnv): Service => create(loadConfig(settings, env));
}

const READY_LIMIT_MS = 30_000;
const CALL_LIMIT_MS = 15_000;

/** `now` is onboarding's clock: what bills go by. */
export async function startMesh(
  overrides: NodeJS.ProcessEnv = {},
  { now }: { now?: () => Date } = {},
): Promise<Mesh> {
  const run = randomBytes(5).toString('hex');
  const ports = new Map<string, number>();
  for (const name of [...Object.keys(CREATE), 'ingress', 'rest']) ports.set(name, await freePort());
  const port = (name: string): number => ports.get(name) as number;
  const ingress_url = `http://127.0.0.1:${port('ingress')}/webhooks/upstream`;
  const emulator = await startEmulator({ port: 0, webhook_url: ingress_url });
  const env: NodeJS.ProcessEnv = {
    MONGO_URL: process.env['MONGO_URL'],
    KAFKA_BROKERS: process.env['KAFKA_BROKERS'],
    REDIS_URL: process.env['REDIS_URL'],
    MONGO_DATABASE_PREFIX: `t${run}-`,
    KAFKA_TOPIC_PREFIX: `t${run}.`,
    REDIS_KEY_PREFIX: `t${run}:`,
    UPSTREAM_URL: emulator.url,
    UPSTREAM_SDK_URL: `${emulator.url}/sdk.js`,
    UPSTREAM_APP_ID: 'app-local',
    UPSTREAM_APP_SECRET: 'app-secret-local',
    UPSTREAM_CONFIG_ID: 'config-local',
    UPSTREAM_VERIFY_TOKEN: 'verify-local',
    PLATFORM_PIN: '000000',
    ENCRYPTION_KEYRING: 'local:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
    KEY_PEPPER: 'test-pepper',
    ALLOW_PRIVATE_URLS: 'true',
    PUBLIC_URL: `http://127.0.0.1:${port('rest')}`,
    GATEWAY_HOST: '127.0.0.1',
    INGRESS_HOST: '127.0.0.1',
    GRPC_HOST: '127.0.0.1',
    METRICS_HOST: '127.0.0.1',
    METRICS_PORT: '0',
    DRAIN_MS: '0',
    GATEWAY_PORT: String(port('rest')),
    INGRESS_PORT: String(port('ingress')),
    ...Object.fromEntries(
      Object.keys(CREATE).map((name) => [
        `${name.replace('-', '_').toUpperCase()}_ADDR`,
        `127.0.0.1:${port(name)}`,
      ]),
    ),
    ...overrides,
  };
  const running = new Map<ServiceName, Running>();
  const start = async (name: ServiceName): Promise<void> => {
    const own = { ...env, GRPC_PORT: String(port(name)) };
    const service =
      name === 'onboarding'
        ? createOnboarding(loadConfig(onboardingSettings, own), now)
        : CREATE[name](own);
    running.set(name, await startService(service, createLogger(name)));
  };
  const stop = async (name: ServiceName): Promise<void> => {
    await running.get(name)?.stop();
    running.delete(name);
  };
  const names = Object.keys(CREATE) as ServiceName[];
  await Promise.all(names.map(start));
  await eventually(() => [...running.values()].every((one) => one.ready()), READY_LIMIT_MS);
  const base_url = `http://127.0.0.1:${port('rest')}/v1`;
  await eventually(async () => {
    const health = (await (await fetch(`${base_url}/health`)).json()) as { status: string };
    return health.status === 'ok';
  }, READY_LIMIT_MS);

  const operator = createRpcClient(OperatorDefinition, `127.0.0.1:${port('onboarding')}`);
  const call = (): Call => ({
    deadline: Date.now() + CALL_LIMIT_MS,
    span: unsampled(),
    request_id: randomUUID(),
  });
  const receivers: PartnerReceiver[] = [];
  return {
    base_url,
    ingress_url,
    emulator,
    env,
    operator: operator.rpc,
    call,
    startService: start,
    stopService: stop,
    async createPartner(options = {}) {
      const receiver = await startPartner();
      receivers.push(receiver);
      const created = await operator.rpc.createPartner(
        {
          name: options.name ?? 'A partner',
          webhook_url: options.webhook_url ?? receiver.url,
          rate_limit_per_sec: options.rate_limit_per_sec,
          max_wabas: options.max_wabas,
        },
        call(),
      );
      const request: TestPartner['call'] = (method, path, body, headers = {}) =>
        callRest(base_url, method, path, body, {
          'x-partner-key': created.partner_key,
          ...headers,
        });
      return {
        ...created,
        receiver,
        call: request,
        register: (number = ONE) => request('POST', '/clients/register', number),
      };
    },
    async stop() {
      await Promise.all(receivers.map((receiver) => receiver.close()));
      await stop('gateway');
      await Promise.all(names.map(stop));
      await operator.stop();
      await emulator.close();
    },
  };
}
