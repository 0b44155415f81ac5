// The composition root: opens things, wires them, returns components in the order of their start.
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBus } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import { ApiError } from '@bmg/common/errors';
import { createBoundedServer } from '@bmg/common/overload';
import type { Component, Service } from '@bmg/common/lifecycle';
import { openRedis } from '@bmg/common/redis';
import { createRpcClient, type Client, type Definition, type RpcClient } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { DirectoryDefinition, OnboardingDefinition } from '@bmg/proto/onboarding';
import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { PaymentsDefinition } from '@bmg/proto/billing';
import { SettingsDefinition } from '@bmg/proto/settings';
import { TemplatesDefinition } from '@bmg/proto/templates';
import { WebhooksDefinition } from '@bmg/proto/webhooks';
import { createApp } from './app';
import type { settings } from './config';
import { connectPage } from './connect-page';
import { createSessionAuthenticator } from './auth/session-token';
import { dashboard } from './dashboard';
import { createLoginLimit } from './dashboard/login-limit';
import { documents } from './docs';
import { chapters, endpoints } from './endpoints';
import { errorBody } from './edge/error-body';
import { createHealthMonitor } from './health';
import { createGuards } from './idempotency';
import { createFallbackBucket } from './limits/fallback-bucket';
import { createLoad } from './limits/load';
import { createAuthenticator } from './auth/authenticate';
import { createMeter } from './edge/meter';
import { createScopeResolver } from './auth/scope';
import { noticeHeaders } from './edge/notice-headers';

export interface GatewayService extends Service {
  /** The port that REST listens on; known once started. */
  port(): number;
}

export function createGateway({ config, warnings }: Loaded<typeof settings>): GatewayService {
  const log = createLogger('gateway');
  const redis = openRedis(config, log);
  const bus = createBus(config, 'gateway', log);
  const addresses = {
    onboarding: config.ONBOARDING_ADDR,
    messaging: config.MESSAGING_ADDR,
    templates: config.TEMPLATES_ADDR,
    broadcasts: config.BROADCASTS_ADDR,
    'number-admin': config.NUMBER_ADMIN_ADDR,
    webhooks: config.WEBHOOKS_ADDR,
  };
  const directory = createRpcClient(DirectoryDefinition, addresses.onboarding);
  const clients = new Map<Definition, RpcClient<Definition>>(
    (
      [
        [OnboardingDefinition, addresses.onboarding],
        [SettingsDefinition, addresses.onboarding],
        [PaymentsDefinition, addresses.onboarding],
        [MessagingDefinition, addresses.messaging],
        [TemplatesDefinition, addresses.templates],
        [BroadcastsDefinition, addresses.broadcasts],
        [NumberAdminDefinition, addresses['number-admin']],
        [WebhooksDefinition, addresses.webhooks],
      ] as Array<[Definition, string]>
    ).map(([definition, address]) => [definition, createRpcClient(definition, address)]),
  );
  const meter = createMeter(bus, log);
  const health = createHealthMonitor(addresses, redis, { bus, brokers: config.KAFKA_BROKERS }, log);
  const notices = noticeHeaders(config.PUBLIC_URL);
  const client = <D extends Definition>(definition: D): Client<D> =>
    (clients.get(definition) as unknown as RpcClient<D>).rpc;
  const authenticator = createAuthenticator(directory.rpc, config.KEY_PEPPER);
  const bucket = createFallbackBucket(redis, log);
  const pages = [
    connectPage({
      onboarding: client(OnboardingDefinition),
      authenticator,
      pepper: config.KEY_PEPPER,
      sdk_url: config.UPSTREAM_SDK_URL,
      log,
    }),
    dashboard({
      settings: client(SettingsDefinition),
      webhooks: client(WebhooksDefinition),
      payments: client(PaymentsDefinition),
      bucket,
      logins: createLoginLimit(redis),
      pepper: config.KEY_PEPPER,
      public_url: config.PUBLIC_URL,
    }),
    documents(chapters, config),
  ];
  const app = createApp({
    endpoints,
    notices,
    authenticator,
    sessions: createSessionAuthenticator(directory.rpc, config.KEY_PEPPER),
    bucket,
    load: createLoad(config.REQUESTS_IN_FLIGHT_MAX, log),
    scope: createScopeResolver(directory.rpc),
    meter,
    health,
    client,
    guards: createGuards({ redis, messaging: client(MessagingDefinition), log }),
    request_timeout_ms: config.REQUEST_TIMEOUT_MS,
    proxy_hops: config.PROXY_HOPS,
    extend: (router) => pages.forEach((add) => add(router)),
    log,
  });
  const http = httpServer(app.callback(), config, notices);
  // Requests are taken before Kafka is there: only the usage record waits for it.
  const busLater: Component = background(bus);
  return {
    name: 'gateway',
    components: [redis, directory, ...clients.values(), busLater, meter, health, http],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
    port: http.port,
  };
}

/** Starts without being waited for. */
function background(component: Component): Component {
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

function httpServer(
  listener: RequestListener,
  config: { GATEWAY_HOST: string; GATEWAY_PORT: number },
  notices: Record<string, string>,
): Component & { port(): number } {
  const server: Server = createBoundedServer(
    { server: 'gateway', refusal: (late) => refusal(late, notices) },
    listener,
  );
  let draining = false;
  server.prependListener('request', (_request, response) => {
    // A replica that stops soon asks its clients to connect elsewhere.
    if (draining) response.setHeader('Connection', 'close');
  });
  return {
    name: 'http',
    port: () => (server.address() as AddressInfo).port,
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(config.GATEWAY_PORT, config.GATEWAY_HOST, resolve);
      }),
    drain: () => {
      draining = true;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

/** What is no request, or did not arrive in time, is answered in the form of any other error. */
function refusal(late: boolean, notices: Record<string, string>): string {
  const message = late ? 'the request did not arrive in time' : 'the request is no valid HTTP';
  const body = JSON.stringify(errorBody(new ApiError('INVALID_PAYLOAD', message), ''));
  const head = Object.entries({
    ...notices,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 400 Bad Request\r\n${head.join('')}\r\n${body}`;
}
