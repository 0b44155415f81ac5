// Which process connects to which: each pair has a link of its own, which can be slow or cut.
import type { EngineName, ServiceName } from '@bmg/local';

export type Server = EngineName | ServiceName | 'upstream';

/** `upstream` as a caller: it posts its webhooks to the ingress. */
export const CALLS: Readonly<Record<ServiceName | 'upstream', readonly Server[]>> = {
  gateway: [
    'redis',
    'kafka',
    'onboarding',
    'messaging',
    'templates',
    'broadcasts',
    'number-admin',
    'webhooks',
  ],
  onboarding: ['mongo', 'kafka', 'redis', 'upstream'],
  messaging: [
    'mongo',
    'kafka',
    'redis',
    'upstream',
    'onboarding',
    'templates',
    'broadcasts',
    'webhooks',
  ],
  templates: ['mongo', 'kafka', 'redis', 'upstream', 'onboarding'],
  broadcasts: ['mongo', 'kafka', 'redis', 'messaging', 'templates', 'onboarding'],
  'number-admin': ['mongo', 'redis', 'upstream', 'onboarding'],
  webhooks: ['mongo', 'kafka', 'redis', 'onboarding', 'destinations'],
  destinations: [],
  fanout: ['redis', 'kafka', 'onboarding', 'messaging'],
  upstream: ['webhooks'],
};
