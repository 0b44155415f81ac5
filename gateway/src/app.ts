// The middleware line: observe → route → chain. Each step is a file in edge/; this file only puts
// them together.
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import { createChain, type ChainDependencies } from './edge/chain';
import { createObserver, notFound, type ObserveDependencies } from './edge/observe';
import type { State } from './edge/state';
import { suggestPath } from './edge/suggest';
import type { Endpoint } from './endpoints/endpoint';
import { HEALTH_PATH, type HealthMonitor } from './health';

export interface AppDependencies extends ObserveDependencies, ChainDependencies {
  endpoints: Endpoint[];
  health: HealthMonitor;
  /** Proxies in front of the gateway whose X-Forwarded-For entries are trusted. */
  proxy_hops?: number;
  /** Adds the pages and documents that are not endpoints of the contract. */
  extend?(router: Router<State>): void;
  /** Answers a person's request for an unknown path; false if the request is not a person's. */
  answerLost?(context: Context): boolean;
}

const BASE = '/v1';

export function createApp(deps: AppDependencies): Koa<State> {
  const { endpoints, health, proxy_hops = 0, extend, answerLost, log } = deps;
  // Koa would trust, without the limit, any address that a client puts before those of the proxies.
  const app = new Koa<State>({ proxy: proxy_hops > 0, maxIpsCount: proxy_hops });
  const router = new Router<State>();
  router.get(HEALTH_PATH, (context: Context) => {
    const { http, body } = health.report();
    context.state['route'] = '/health';
    context.status = http;
    context.body = body;
  });
  for (const endpoint of endpoints) {
    router.register(BASE + endpoint.path, [endpoint.verb], createChain(endpoint, deps));
  }
  router.get('/', (context: Context) => {
    context.state['route'] = '/';
    context.redirect('/docs');
  });
  extend?.(router);
  app.use(createObserver(deps));
  app.use(router.routes());
  const paths = endpoints.map(({ verb, path }) => ({ verb, path: BASE + path }));
  app.use((context) => {
    const { method, path } = context;
    if (answerLost?.(context)) return;
    throw notFound(suggestPath(paths, method, path));
  });
  // The observer answers every error, so an error here means that the client has disconnected.
  app.on('error', (error: unknown) => log.debug({ err: error }, 'failed to deliver a response'));
  return app;
}
