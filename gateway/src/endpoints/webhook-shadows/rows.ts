// Shadow receivers: a second URL that gets copies of a receiver's events, and the comparison of
// both.
import { EndpointsDefinition, type Shadow, type ShadowAnswer } from '@bmg/proto/endpoints';
import * as docs from './docs';
import * as schemas from './schemas';
import { get, post, rpc, type Endpoint, type Fields } from '../endpoint';
import { changelogOf, CHECK_TIMEOUT_MS } from '../webhook-endpoints/rows';

interface Body {
  url: string;
  endpoint_id?: string;
  source: string;
  hours: number;
  max_per_second: number;
  headers?: object | null;
  secret?: string;
}

const settingsOf = ({ headers, endpoint_id, ...settings }: Body) => ({
  url: settings.url,
  endpoint_id,
  source: settings.source,
  hours: settings.hours,
  max_per_second: settings.max_per_second,
  headers: { by_name: (headers ?? {}) as Record<string, string> },
});

const answer = (one: ShadowAnswer | undefined): Fields => ({
  ...one,
  http_status: one?.http_status ?? null,
  error: one?.error ?? null,
});

const times = (of: { p50_ms?: number | undefined; p99_ms?: number | undefined } | undefined) => ({
  p50_ms: of?.p50_ms ?? null,
  p99_ms: of?.p99_ms ?? null,
});

/** Lists leave out the events that were answered differently. */
const listed = ({ comparison, ...one }: Shadow) => {
  const { differences: _differences, first, shadow, ...counts } = comparison ?? {};
  return {
    ...one,
    endpoint_id: one.endpoint_id ?? null,
    ended_at: one.ended_at ?? null,
    comparison: { ...counts, first: times(first), shadow: times(shadow) },
  };
};

const shown = (given: Shadow | undefined): Fields => {
  const one = given as Shadow;
  const { comparison, ...rest } = listed(one);
  const differences = (one.comparison?.differences ?? []).map(({ first, shadow, ...event }) => ({
    ...event,
    first: answer(first),
    shadow: answer(shadow),
  }));
  return { ...rest, comparison: { ...comparison, differences } };
};

export const webhookShadows: Endpoint[] = [
  post('/webhook-shadows', rpc(EndpointsDefinition, 'startShadow'), {
    scope: 'partner',
    addition: true,
    hands_events: true,
    status: 201,
    timeout_ms: CHECK_TIMEOUT_MS,
    body: schemas.startWebhookShadow,
    request: ({ body, partner_id, base_url }) => ({
      partner_id,
      settings: settingsOf(body as Body),
      changelog: changelogOf(base_url),
      secret: (body as Body).secret,
    }),
    reply: ({ shadow, secret }) => ({ shadow: shown(shadow), secret }),
    audit: {
      values: ['endpoint_id', 'source', 'hours', 'max_per_second'],
      ids: { shadow_id: 'shadow.shadow_id' },
    },
    docs: docs.startWebhookShadow,
    summary: 'Try a new receiver on your events',
  }),
  get('/webhook-shadows', rpc(EndpointsDefinition, 'listShadows'), {
    scope: 'partner',
    addition: true,
    reply: ({ shadows }) => ({ shadows: shadows.map(listed) }),
    docs: docs.listWebhookShadows,
    summary: 'List shadow receivers',
  }),
  get('/webhook-shadows/:shadow_id', rpc(EndpointsDefinition, 'getShadow'), {
    scope: 'partner',
    addition: true,
    reply: (shadow) => ({ shadow: shown(shadow) }),
    docs: docs.getWebhookShadow,
    summary: 'Compare a shadow receiver with the first one',
  }),
  post('/webhook-shadows/:shadow_id/stop', rpc(EndpointsDefinition, 'stopShadow'), {
    scope: 'partner',
    addition: true,
    audit: { reduces_risk: true },
    reply: (shadow) => ({ shadow: shown(shadow) }),
    docs: docs.stopWebhookShadow,
    summary: 'Stop a shadow receiver',
  }),
];
