// The composition root: lists the parts of the gateway, which each folder builds in its wire.ts,
// and returns them in start order.
import { createBus } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import type { Component, Service } from '@bmg/common/lifecycle';
import { NOTICES } from '@bmg/common/notices';
import { openRedis } from '@bmg/common/redis';
import { createRpcClient } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import { createApp } from './app';
import { wireAuth } from './auth/wire';
import { createClients, serviceAddresses } from './clients';
import type { settings } from './config';
import { wireConnectPage } from './connect-page/wire';
import { wireConsole } from './console/wire';
import { answerLost, documents, readDocumentation } from './docs';
import { NOTICE_TEXTS } from './docs/history';
import { createHttpServer } from './edge/http-server';
import { noticeHeaders } from './edge/notice-headers';
import { transportHeaders } from './edge/transport-headers';
import { wireEdge } from './edge/wire';
import { chapters, endpoints } from './endpoints';
import { createHealthMonitor } from './health';
import { wireLimits } from './limits/wire';
import { wireMcp } from './mcp/wire';

export interface GatewayService extends Service {
  /** The port that REST listens on; known once started. */
  port(): number;
}

export function createGateway({ config, warnings }: Loaded<typeof settings>): GatewayService {
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
  const { GATEWAY_HOST: host, GATEWAY_PORT: port } = config;
  const http = createHttpServer(app.callback(), {
    host,
    port,
    proxy_hops: config.PROXY_HOPS,
    ...answers,
  });
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
