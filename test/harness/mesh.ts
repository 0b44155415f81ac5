// The whole mesh in this process, on free ports, with separate databases, topics and keys: real
// engines, the emulator and partners over HTTP. Tests join the worker's mesh (shared-mesh.ts)
// unless they need a separate clock or separate engines.
import type { Loaded } from '@bmg/common/config';
import { loadConfig } from '@bmg/common/config';
import { startService, type Running, type Service } from '@bmg/common/lifecycle';
import { createLogger } from '@bmg/common/telemetry';
import { settings as broadcastsSettings } from '@bmg/broadcasts/config';
import { createBroadcasts } from '@bmg/broadcasts/service';
import { settings as destinationsSettings } from '@bmg/destinations/config';
import { createDestinations } from '@bmg/destinations/service';
import { settings as fanoutSettings } from '@bmg/fanout/config';
import { createFanout } from '@bmg/fanout/service';
import { settings as messagingSettings } from '@bmg/messaging/config';
import { createMessaging } from '@bmg/messaging/service';
import { settings as numberAdminSettings } from '@bmg/number-admin/config';
import { createNumberAdmin } from '@bmg/number-admin/service';
import { settings as onboardingSettings } from '@bmg/onboarding/config';
import { createOnboarding } from '@bmg/onboarding/service';
import { settings as templatesSettings } from '@bmg/templates/config';
import { createTemplates } from '@bmg/templates/service';
import { settings as webhooksSettings } from '@bmg/webhooks/config';
import { createWebhooks } from '@bmg/webhooks/service';
import { settings as gatewaySettings } from '@bmg/gateway/config';
import { createGateway } from '@bmg/gateway/service';
import { addressSetting, freePorts, meshSettings, type ServiceName } from '@bmg/local';
import { startEmulator } from '../emulator';
import { eventually } from '../testkit/eventually';
import { ONE, ownNames, WORLD } from './world';
import { createMeshView, type Mesh } from './mesh-view';

const CREATE: Record<ServiceName, (env: NodeJS.ProcessEnv) => Service> = {
  onboarding: make(onboardingSettings, createOnboarding),
  messaging: make(messagingSettings, createMessaging),
  templates: make(templatesSettings, createTemplates),
  broadcasts: make(broadcastsSettings, createBroadcasts),
  'number-admin': make(numberAdminSettings, createNumberAdmin),
  webhooks: make(webhooksSettings, createWebhooks),
  destinations: make(destinationsSettings, createDestinations),
  fanout: make(fanoutSettings, createFanout),
  gateway: make(gatewaySettings, createGateway),
};

function make<S extends Parameters<typeof loadConfig>[0]>(
  settings: S,
  create: (loaded: Loaded<S>) => Service,
) {
  return (env: NodeJS.ProcessEnv): Service => create(loadConfig(settings, env));
}

export { ONE, TWO_A, TWO_B } from './world';
export { callRest, type Answer, type SeededNumber } from '../testkit/rest';
export type { Mesh, TestPartner } from './mesh-view';

/** The time limit of a hook that starts a mesh, on a slow machine that does other work. */
export const START_LIMIT_MS = 240_000;

/** All services of a mesh share these: the engines of the run, and names and ports of its own. */
async function settingsOf(): Promise<NodeJS.ProcessEnv> {
  const { MONGO_URL, KAFKA_BROKERS, REDIS_URL } = process.env;
  const engines = { MONGO_URL, KAFKA_BROKERS, REDIS_URL };
  const settings = meshSettings({ ...engines, ...ownNames('t'), ...(await freePorts()) });
  return { ...settings, METRICS_PORT: '0', DRAIN_MS: '0' };
}

/** `now` is onboarding's clock, which billing uses; `envOf` gives a service settings of its own. */
export async function startMesh(
  overrides: NodeJS.ProcessEnv = {},
  {
    now,
    envOf = () => ({}),
  }: { now?: () => Date; envOf?: (name: ServiceName) => NodeJS.ProcessEnv } = {},
): Promise<Mesh> {
  const settings = await settingsOf();
  const ingress_url = settings['EMULATOR_WEBHOOK_URL'] as string;
  const emulator = await startEmulator({
    port: Number(settings['EMULATOR_PORT']),
    webhook_url: ingress_url,
  });
  await emulator.reset(WORLD);
  const env = { ...settings, ...overrides };
  const running = new Map<ServiceName, Running>();
  const start = async (name: ServiceName, changed: NodeJS.ProcessEnv = {}): Promise<void> => {
    const GRPC_PORT = settings[addressSetting(name)]?.split(':')[1];
    const own = { ...env, ...envOf(name), ...changed, GRPC_PORT };
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
  const base_url = settings['BASE_URL'] as string;
  const close = async (): Promise<void> => {
    await stop('gateway');
    await Promise.all(names.map(stop));
    await emulator.close();
  };
  try {
    const started = await Promise.allSettled(names.map((name) => start(name)));
    for (const one of started) if (one.status === 'rejected') throw one.reason;
    await eventually(() => [...running.values()].every((one) => one.ready()));
    await eventually(async () => {
      const health = (await (await fetch(`${base_url}/health`)).json()) as { status: string };
      return health.status === 'ok';
    });
  } catch (error) {
    // Its consumers would go on as members of their groups.
    await close();
    throw error;
  }

  return createMeshView({
    base_url,
    ingress_url,
    emulator,
    env,
    first_number: ONE,
    startService: start,
    stopService: stop,
    close,
  });
}
