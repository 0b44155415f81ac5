// The composition root: builds the parts of the gateway, and lists them in start order.
import { createBus, type Bus } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import type { Component, Service } from '@bmg/common/lifecycle';
import { NOTICES } from '@bmg/common/notices';
import { openRedis, type RedisConnection } from '@bmg/common/redis';
import { createRpcClient } from '@bmg/common/rpc';
import { createLogger, type Logger } from '@bmg/common/telemetry';
import { AuditDefinition } from '@bmg/proto/audit';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { DirectoryDefinition, OnboardingDefinition } from '@bmg/proto/onboarding';
import { createApp } from './app';
import { createRecorder } from './audit/recorder';
import { createRefusalLog } from './audit/refusal-log';
import { wireAuth, type Auth } from './auth/wire';
import { createClients, serviceAddresses, type Clients } from './clients';
import type { settings } from './config';
import { wireConnectPage } from './connect-page/wire';
import { wireConsole } from './console/wire';
import { answerLost, documents, readDocumentation } from './docs';
import { NOTICE_TEXTS } from './docs/history';
import { createHttpServer } from './edge/http-server';
import { createMeter } from './edge/meter';
import { noticeHeaders, transportHeaders } from './edge/notice-headers';
import { chapters, endpoints } from './endpoints';
import { createHealthMonitor } from './health';
import { createGuards } from './idempotency';
import { wireLimits, type Limits } from './limits/wire';
import { wireMcp } from './mcp/wire';
import { createRequestLog } from './request-log';

/** \`port\` is the port that REST listens on; known once started. */
export function createGateway({
  config,
  warnings,
}: Loaded<typeof settings>): Service & { port(): number } {
  const log = createLogger('gateway');
  const redis = openRedis(config, log);
  const bus = createBus(config, 'gateway', log);
  const addresses = serviceAddresses(config);
  const rpc = createClients(addresses);
  const directory = createRpcClient(DirectoryDefinition, addresses.onboarding);
  const health = createHealthMonitor(addresses, redis, { bus, brokers: config.KAFKA_BROKERS }, log);
  const public_url = config.PUBLIC_URL.replace(/\/$/, '');
  const answers = {
    notices: { ...noticeHeaders(config.PUBLIC_URL), ...transportHeaders(config.PUBLIC_URL) },
    docs_url: `${public_url}/docs`,
  };
  const limits = wireLimits(config, redis, log);
  const auth = wireAuth(directory.rpc, config.KEY_PEPPER, { load: limits.load, log });
  const parts = { redis, bus, rpc, auth, limits, log };
  const edge = wireEdge({ ...parts, public_url, docs_url: answers.docs_url });
  const notices = NOTICES.map((one) => ({ ...one, text: NOTICE_TEXTS[one.id] ?? '' }));
  const web = wireConsole(config, { ...parts, ...edge, endpoints, notices });
  const docs = readDocumentation(chapters, config);
  const observe = {
    ...answers,
    load: limits.load,
    requests: edge.requests,
    refusals: limits.refusals,
    refused: edge.refused,
    request_timeout_ms: config.REQUEST_TIMEOUT_MS,
    log,
  };
  const pages = [
    wireConnectPage(config, parts),
    ...web.pages,
    documents(docs, log),
    wireMcp({ auth, chain: edge.chain, observe, docs, log }),
  ];
  const app = createApp({
    ...edge.chain,
    ...observe,
    endpoints,
    health,
    proxy_hops: config.PROXY_HOPS,
    extend: (router) => pages.forEach((add) => add(router)),
    answerLost: answerLost(docs),
  });
  const { GATEWAY_HOST: host, GATEWAY_PORT: port, PROXY_HOPS: proxy_hops } = config;
  const http = createHttpServer(app.callback(), { host, port, proxy_hops, ...answers });
  return {
    name: 'gateway',
    components: [
      redis,
      directory,
      ...rpc.components,
      inBackground(bus),
      edge.meter,
      edge.refused,
      edge.requests,
      health,
      http,
      web.streams,
    ],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
    port: http.port,
  };
}

interface Parts {
  redis: RedisConnection;
  bus: Bus;
  rpc: Clients;
  auth: Auth;
  limits: Limits;
  public_url: string;
  docs_url: string;
  log: Logger;
}

/** The middleware line of the endpoints: who calls, the usage record, and safe repetition. */
function wireEdge({ redis, bus, rpc, auth, limits, public_url, docs_url, log }: Parts) {
  const meter = createMeter(bus, log);
  const messaging = rpc.client(MessagingDefinition);
  const audit = rpc.client(AuditDefinition);
  const recorder = createRecorder({ audit, log });
  return {
    meter,
    refused: createRefusalLog({ audit, log }),
    requests: createRequestLog({ onboarding: rpc.client(OnboardingDefinition), log }),
    chain: {
      ...auth,
      bucket: limits.bucket,
      load: limits.load,
      meter,
      recorder,
      base_url: `${public_url}/v1`,
      client: rpc.client,
      guards: createGuards({ redis, messaging, docs_url, log }),
    },
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
