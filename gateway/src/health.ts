// GET /health: the state of each part, asked in the background, so that the answer itself costs nothing.
import { API_VERSION } from '@bmg/common/notices';
import { createPoller, type Component } from '@bmg/common/lifecycle';
import type { RedisConnection } from '@bmg/common/redis';
import { createRpcClient, type Call } from '@bmg/common/rpc';
import { startSpan, type Logger } from '@bmg/common/telemetry';
import { HealthCheckResponse_ServingStatus as Serving, HealthDefinition } from '@bmg/proto/health';

type State = 'ok' | 'down';

export interface HealthReport {
  http: 200 | 503;
  body: Record<string, unknown>;
}

export interface HealthMonitor extends Component {
  report(): HealthReport;
}

const ASK_EVERY_MS = 1_000;
const ASK_LIMIT_MS = 1_000;
/** Without these two no send could work. */
const ESSENTIAL = ['onboarding', 'messaging'];

export function createHealthMonitor(
  addresses: Record<string, string>,
  redis: RedisConnection,
  bus: { check?: () => Promise<void> },
  log: Logger,
): HealthMonitor {
  const clients = Object.entries(addresses).map(([name, address]) => ({
    name,
    client: createRpcClient(HealthDefinition, address),
  }));
  const states = new Map<string, State>(clients.map(({ name }) => [name, 'down']));
  const ask = async (): Promise<void> => {
    await Promise.all([
      ...clients.map(async ({ name, client }) => {
        const span = startSpan('health');
        const call: Call = {
          deadline: Date.now() + ASK_LIMIT_MS,
          span: span.spanContext(),
          request_id: '',
        };
        const serving = await client.rpc.check({ service: '' }, call).then(
          ({ status }) => status === Serving.SERVING,
          () => false,
        );
        states.set(name, serving ? 'ok' : 'down');
      }),
      (async () => {
        const ok = await (bus.check?.() ?? Promise.resolve()).then(
          () => true,
          () => false,
        );
        states.set('kafka', ok ? 'ok' : 'down');
      })(),
    ]);
    states.set('redis', redis.up() ? 'ok' : 'down');
  };
  const poller = createPoller('health', ASK_EVERY_MS, ask, log);
  return {
    name: 'health',
    async start(signal) {
      for (const { client } of clients) await client.start(signal);
      await ask();
      await poller.start(signal);
    },
    async stop() {
      await poller.stop();
      for (const { client } of clients) await client.stop();
    },
    report() {
      const all = [...states.values()].every((state) => state === 'ok');
      const possible = ESSENTIAL.every((name) => states.get(name) === 'ok');
      return {
        http: possible ? 200 : 503,
        body: {
          success: possible,
          status: all ? 'ok' : possible ? 'degraded' : 'down',
          version: API_VERSION,
          dependencies: Object.fromEntries(
            [...states].map(([name, state]) => [name, { status: state }]),
          ),
        },
      };
    },
  };
}
