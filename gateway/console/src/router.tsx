// The screens and their addresses. Each screen is a file of its own, loaded when it is opened.
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { validateSearch } from './search';
import { Frame, Missing } from './shell/frame';

interface RouterContext {
  queries: QueryClient;
}

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
  screen('/problems', () => import('./screens/problems')),
  screen('/messages', () => import('./screens/messages')),
  screen('/messages/conversation', () => import('./screens/conversation')),
  screen('/messages/new', () => import('./screens/messages/compose')),
  screen('/templates', () => import('./screens/templates')),
  screen('/broadcasts', () => import('./screens/broadcasts')),
  screen('/broadcasts/new', () => import('./screens/broadcasts/create')),
  screen('/usage', () => import('./screens/usage')),
  screen('/usage/ledger', () => import('./screens/usage/ledger')),
  screen('/usage/prices', () => import('./screens/usage/prices')),
  createRoute({
    getParentRoute: () => root,
    path: '/settings',
    beforeLoad: () => {
      throw redirect({ to: '/settings/profile' });
    },
  }),
  screen('/settings/profile', () => import('./screens/settings/profile')),
  screen('/settings/receivers', () => import('./screens/settings/receivers')),
  screen('/settings/receivers/webhook', () => import('./screens/settings/webhook')),
  screen('/settings/receivers/$endpoint_id', () => import('./screens/settings/endpoint')),
  screen('/settings/alerts', () => import('./screens/settings/alerts')),
  screen('/settings/sign-up', () => import('./screens/settings/sign-up')),
  screen('/settings/keys', () => import('./screens/settings/keys')),
  screen('/settings/people', () => import('./screens/settings/people')),
  screen('/settings/billing', () => import('./screens/settings/billing')),
  screen('/settings/audit', () => import('./screens/settings/audit')),
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
