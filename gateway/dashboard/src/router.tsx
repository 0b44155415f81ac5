// The screens and their addresses. Each screen is a file of its own, loaded when it is opened.
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { Missing } from './parts/missing';
import { Frame } from './shell/frame';

interface RouterContext {
  queries: QueryClient;
}

/** The filters of every screen, kept in the address. */
export interface Search {
  period?: 'day' | 'week' | 'month' | undefined;
  status?: string | undefined;
  find?: string | undefined;
  /** The number that the screen is about: `<waba_id>/<phone_number_id>`. */
  number?: string | undefined;
  /** The thing shown beside the list. */
  open?: string | undefined;
  template?: string | undefined;
  copy?: number | undefined;
  /** A period in whole UTC days. */
  from?: string | undefined;
  to?: string | undefined;
}

const PERIODS = ['day', 'week', 'month'] as const;
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== ''
    ? value
    : typeof value === 'number'
      ? String(value)
      : undefined;

const validateSearch = (raw: Record<string, unknown>): Search => ({
  period: PERIODS.find((period) => period === raw['period']),
  status: textOf(raw['status']),
  find: textOf(raw['find']),
  number: textOf(raw['number']),
  open: textOf(raw['open']),
  template: textOf(raw['template']),
  copy: Number(raw['copy']) || undefined,
  from: textOf(raw['from']),
  to: textOf(raw['to']),
});

const root = createRootRouteWithContext<RouterContext>()({
  component: Frame,
  notFoundComponent: Missing,
  validateSearch,
});

const screen = <P extends string>(
  path: P,
  load: () => Promise<{ Screen: () => React.ReactNode }>,
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(load, 'Screen'),
  });

const tree = root.addChildren([
  screen('/', () => import('./screens/overview')),
  screen('/numbers', () => import('./screens/numbers')),
  screen('/events', () => import('./screens/events/live')),
  screen('/events/failed', () => import('./screens/events')),
  screen('/messages', () => import('./screens/messages')),
  screen('/messages/new', () => import('./screens/messages/compose')),
  screen('/templates', () => import('./screens/templates')),
  screen('/broadcasts', () => import('./screens/broadcasts')),
  screen('/broadcasts/new', () => import('./screens/broadcasts/create')),
  screen('/usage', () => import('./screens/usage')),
  screen('/usage/ledger', () => import('./screens/usage/ledger')),
  screen('/settings', () => import('./screens/settings')),
  screen('/developers', () => import('./screens/developers')),
]);

export const createConsoleRouter = (queries: QueryClient) =>
  createRouter({
    routeTree: tree,
    basepath: new URL(document.baseURI).pathname,
    context: { queries },
    defaultPreload: 'intent',
    scrollRestoration: true,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
