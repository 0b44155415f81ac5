// The composition root: builds every part of the gateway and returns them in start order.
import { createBus } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import type { Component, Service } from '@bmg/common/lifecycle';
import { createRefusals } from '@bmg/common/overload';
import { openRedis, type RedisConnection } from '@bmg/common/redis';
import { NOTICES } from '@bmg/common/notices';
import { createRpcClient, type Client, type Definition, type RpcClient } from '@bmg/common/rpc';
import { createLogger, type Logger } from '@bmg/common/telemetry';
import { PaymentsDefinition } from '@bmg/proto/billing';
import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import { LedgerDefinition } from '@bmg/proto/ledger';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { DirectoryDefinition, OnboardingDefinition } from '@bmg/proto/onboarding';
import { SettingsDefinition } from '@bmg/proto/settings';
import { TemplatesDefinition } from '@bmg/proto/templates';
import { EventLogDefinition, WebhooksDefinition } from '@bmg/proto/webhooks';
import { createApp } from './app';
import { createAuthenticator } from './auth/authenticate';
import { createLookUps, type LookUps } from './auth/look-ups';
import { createScopeResolver } from './auth/scope';
import { createSessionAuthenticator } from './auth/session-token';
import type { settings } from './config';
import { connectPage } from './connect-page';
import { dashboard } from './dashboard';
import { createEventStreams, type EventStreams } from './dashboard/event-streams';
import { consoleSite } from './dashboard/site';
import { documents } from './docs';
import { NOTICE_TEXTS } from './docs/history';
import type { ChainDependencies } from './edge/chain';
import { createHttpServer } from './edge/http-server';
import { createMeter } from './edge/meter';
import { noticeHeaders } from './edge/notice-headers';
import { createRequestLog, type RequestLog } from './edge/request-log';
import { chapters, endpoints } from './endpoints';
import { createHealthMonitor } from './health';
import { createGuards } from './idempotency';
import { createFallbackBucket } from './limits/fallback-bucket';
import { createLoad, REFUSALS_AT_ONCE, type Load } from './limits/load';
import { CONNECT_LIMIT, createNetworkLimit, LOGIN_LIMIT } from './limits/network-limit';

export interface GatewayService extends Service {
  /** The port that REST listens on; known once started. */
  port(): number;
}

type Config = Loaded<typeof settings>['config'];

export function createGateway({ config, warnings }: Loaded<typeof settings>): GatewayService {
  const log = createLogger('gateway');
  const redis = openRedis(config, log);
  const bus = createBus(config, 'gateway', log);
  const addresses = serviceAddresses(config);
  const rpc = createClients(addresses);
  const directory = createRpcClient(DirectoryDefinition, addresses.onboarding);
  const meter = createMeter(bus, log);
  const requests = createRequestLog(redis, log);
  const health = createHealthMonitor(addresses, redis, { bus, brokers: config.KAFKA_BROKERS }, log);
  const notices = noticeHeaders(config.PUBLIC_URL);
  const public_url = config.PUBLIC_URL.replace(/\/$/, '');
  const docs_url = `${public_url}/docs`;
  const load = createLoad(config.REQUESTS_IN_FLIGHT_MAX, log);
  const streams = createEventStreams({ events: rpc.client(EventLogDefinition), load, log });
  const look_ups = createLookUps(load);
  const authenticator = createAuthenticator(directory.rpc, config.KEY_PEPPER, look_ups);
  const bucket = createFallbackBucket(redis, log);
  const chain = {
    authenticator,
    sessions: createSessionAuthenticator(directory.rpc, config.KEY_PEPPER, look_ups),
    bucket,
    load,
    scope: createScopeResolver(directory.rpc),
    meter,
    base_url: `${public_url}/v1`,
    client: rpc.client,
    guards: createGuards({ redis, messaging: rpc.client(MessagingDefinition), docs_url, log }),
  };
  const pages = createPages(config, { rpc, redis, look_ups, load, requests, streams, chain, log });
  const app = createApp({
    endpoints,
    notices,
    docs_url,
    ...chain,
    health,
    requests,
    refusals: createRefusals(REFUSALS_AT_ONCE),
    request_timeout_ms: config.REQUEST_TIMEOUT_MS,
    proxy_hops: config.PROXY_HOPS,
    extend: (router) => pages.forEach((add) => add(router)),
    log,
  });
  const { GATEWAY_HOST: host, GATEWAY_PORT: port } = config;
  const http = createHttpServer(app.callback(), { host, port, notices, docs_url });
  return {
    name: 'gateway',
    components: [
      redis,
      directory,
      ...rpc.components,
      inBackground(bus),
      meter,
      requests,
      health,
      http,
      streams,
    ],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
    port: http.port,
  };
}

interface PageParts {
  rpc: ReturnType<typeof createClients>;
  redis: RedisConnection;
  look_ups: LookUps;
  load: Load;
  requests: RequestLog;
  streams: EventStreams;
  chain: ChainDependencies;
  log: Logger;
}

/** The pages and documents that are not endpoints of the contract. */
function createPages(config: Config, { rpc, redis, ...parts }: PageParts) {
  const { chain, look_ups, log } = parts;
  return [
    connectPage({
      onboarding: rpc.client(OnboardingDefinition),
      authenticator: chain.authenticator,
      look_ups,
      visits: createNetworkLimit(redis, CONNECT_LIMIT),
      pepper: config.KEY_PEPPER,
      sdk_url: config.UPSTREAM_SDK_URL,
      log,
    }),
    dashboard({
      ...parts,
      settings: rpc.client(SettingsDefinition),
      webhooks: rpc.client(WebhooksDefinition),
      payments: rpc.client(PaymentsDefinition),
      bucket: chain.bucket,
      logins: createNetworkLimit(redis, LOGIN_LIMIT),
      pepper: config.KEY_PEPPER,
      public_url: config.PUBLIC_URL,
      notices: NOTICES.map((notice) => ({ ...notice, text: NOTICE_TEXTS[notice.id] ?? '' })),
      endpoints,
    }),
    consoleSite(config.PUBLIC_URL, log),
    documents(chapters, config, log),
  ];
}

const serviceAddresses = (config: Config) => ({
  onboarding: config.ONBOARDING_ADDR,
  messaging: config.MESSAGING_ADDR,
  templates: config.TEMPLATES_ADDR,
  broadcasts: config.BROADCASTS_ADDR,
  'number-admin': config.NUMBER_ADMIN_ADDR,
  webhooks: config.WEBHOOKS_ADDR,
});

/** One client for each gRPC service that the endpoints, pages and documents call. */
function createClients(addresses: ReturnType<typeof serviceAddresses>) {
  const served: Array<[Definition, string]> = [
    [OnboardingDefinition, addresses.onboarding],
    [SettingsDefinition, addresses.onboarding],
    [PaymentsDefinition, addresses.onboarding],
    [MessagingDefinition, addresses.messaging],
    [LedgerDefinition, addresses.messaging],
    [TemplatesDefinition, addresses.templates],
    [BroadcastsDefinition, addresses.broadcasts],
    [NumberAdminDefinition, addresses['number-admin']],
    [WebhooksDefinition, addresses.webhooks],
    [EventLogDefinition, addresses.webhooks],
  ];
  const clients = new Map<Definition, RpcClient<Definition>>(
    served.map(([definition, address]) => [definition, createRpcClient(definition, address)]),
  );
  return {
    components: [...clients.values()],
    client: <D extends Definition>(definition: D): Client<D> =>
      (clients.get(definition) as unknown as RpcClient<D>).rpc,
  };
}

/** Requests are served before Kafka is connected: only the usage record waits for it. */
function inBackground(component: Component): Component {
  const abort = new AbortController();
  let starting: Promise<void> = Promise.resolve();
  return {
    name: component.name,
    async start() {
      starting = component.start(abort.signal).catch(() => undefined);
    },
    async stop() {
      abort.abort();
      await starting;
      await component.stop();
    },
  };
}
