// The whole service over gRPC and Kafka, with test doubles for the services it calls.
import { createBus, type Bus } from '@bmg/common/bus';
import { loadConfig } from '@bmg/common/config';
import { startService, type Running } from '@bmg/common/lifecycle';
import {
  createRpcClient,
  createRpcServer,
  implement,
  type Call,
  type Client,
  type Handlers,
} from '@bmg/common/rpc';
import { startSpan } from '@bmg/common/telemetry';
import {
  BroadcastsDefinition,
  type CreateBroadcastRequest,
  type CreateBroadcastResponse,
  type GetBroadcastResponse,
} from '@bmg/proto/broadcasts';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { DirectoryDefinition, type GetCredentialsRequest } from '@bmg/proto/onboarding';
import { TemplatesDefinition, type FindTemplateRequest } from '@bmg/proto/templates';
import { settings } from '../src/config';
import { createBroadcasts } from '../src/service';
import { phone } from './builders';
import { unique } from './stores';
import { eventually } from '../../../test/testkit/eventually';
import { aCredential, createMessagingDouble, quiet } from './worker';

const HOST = '127.0.0.1';
const CALL_LIMIT_MS = 30_000;
/** Pending and scheduled broadcasts of one partner. */
export const WAITING_MAX = 50;

export const TARGET = {
  partner_id: 'ptn_1',
  waba_id: '800',
  phone_number_id: '700',
  directory_version: '',
};

const template = (name: string, overrides = {}) => ({
  name,
  language: 'en_US',
  status: 'APPROVED',
  category: 'UTILITY',
  components: [],
  ...overrides,
});
const TEMPLATES = [
  template('plain', { components: [{ type: 'BODY', text: 'Hello' }] }),
  template('order', { components: [{ type: 'BODY', text: 'Hi {{1}}, {{2}} is on its way.' }] }),
  template('tired', { status: 'PAUSED' }),
];

const call = (overrides: Partial<Call> = {}): Call => ({
  deadline: Date.now() + CALL_LIMIT_MS,
  span: startSpan('test').spanContext(),
  request_id: 'req-1',
  ...overrides,
});

export function useService() {
  const messaging = createMessagingDouble(5);
  const closing: Array<() => Promise<void>> = [];
  let client: Client<BroadcastsDefinition> | undefined;
  let bus: Bus | undefined;
  const rig = {
    messaging,
    /** The directory's answer for every number. */
    credential: aCredential({ throughput_level: 'HIGH' }),
    get bus(): Bus {
      return bus as Bus;
    },
    get rpc(): Client<BroadcastsDefinition> {
      return client as Client<BroadcastsDefinition>;
    },
    call,
    create: (
      overrides: Partial<CreateBroadcastRequest> = {},
      how: Partial<Call> = {},
    ): Promise<CreateBroadcastResponse> =>
      rig.rpc.createBroadcast(
        {
          target: TARGET,
          name: 'Autumn',
          template_name: 'plain',
          template_language: 'en_US',
          template_components: [],
          contacts: [{ recipient: phone(1) }],
          ...overrides,
        },
        call(how),
      ),
    get: (broadcast_id: number, partner_id = TARGET.partner_id): Promise<GetBroadcastResponse> =>
      rig.rpc.getBroadcast({ partner_id, broadcast_id }, call()),
    completed: (id: number): Promise<GetBroadcastResponse> =>
      eventually(async () => {
        const answer = await rig.get(id);
        return answer.broadcast?.status === 'completed' && answer;
      }),
  };

  beforeAll(async () => {
    const signal = new AbortController().signal;
    const neighbours = createRpcServer(
      { host: HOST, port: 0 },
      [
        implement(MessagingDefinition, messaging.rpc as unknown as Handlers<MessagingDefinition>),
        implement(DirectoryDefinition, {
          getCredentials: async ({ scopes }: GetCredentialsRequest) => ({
            found: scopes.map(() => ({ credential: rig.credential })),
          }),
        } as unknown as Handlers<DirectoryDefinition>),
        implement(TemplatesDefinition, {
          async findTemplate({ name, language }: FindTemplateRequest) {
            const named = TEMPLATES.filter((one) => one.name === name);
            return {
              template: named.find((one) => one.language === language),
              languages: named.map((one) => one.language),
            };
          },
        } as unknown as Handlers<TemplatesDefinition>),
      ],
      quiet,
    );
    await neighbours.start(signal);
    closing.unshift(() => neighbours.stop());
    const address = `${HOST}:${neighbours.port}`;
    const loaded = loadConfig(settings, {
      ...process.env,
      MONGO_DATABASE_PREFIX: unique('t_'),
      REDIS_KEY_PREFIX: unique('t:'),
      KAFKA_TOPIC_PREFIX: unique('t.'),
      GRPC_HOST: HOST,
      GRPC_PORT: '0',
      METRICS_HOST: HOST,
      METRICS_PORT: '0',
      DRAIN_MS: '0',
      ONBOARDING_ADDR: address,
      MESSAGING_ADDR: address,
      TEMPLATES_ADDR: address,
      BROADCAST_WAITING_MAX: String(WAITING_MAX),
    });
    const service = createBroadcasts(loaded);
    const running: Running = await startService(service, quiet);
    closing.unshift(() => running.stop());
    await eventually(() => running.ready());
    const opened = createRpcClient(BroadcastsDefinition, `${HOST}:${service.port()}`);
    client = opened.rpc;
    closing.unshift(() => opened.stop());
    const started = createBus(loaded.config, 'test', quiet);
    await started.start(signal);
    bus = started;
    closing.unshift(() => started.stop());
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });
  return rig;
}
