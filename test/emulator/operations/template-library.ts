// The platform's own templates, and how an account's templates did.
import { accountOf, routesOf, type Call } from '../core';
import { invalid } from '../errors';
import { listAnswer, page } from '../paging';
import type { JsonObject, SentMessage, StatusName } from '../types';
import { DAY_S, dayOf, periodOf } from './analytics';
import { requireOneOf } from './parameters';

const TEMPLATES_MAX = 10;
const METRICS = ['sent', 'delivered', 'read', 'clicked', 'cost'];

export const templateLibraryRoutes = routesOf('whatsapp_business_management', {
  'GET /message_template_library': library,
  'GET /:account/template_analytics': analytics,
});

interface LibraryTemplate extends JsonObject {
  name: string;
  language: string;
  category: string;
  body: string;
}

const ORDERS = { topic: 'ORDER_MANAGEMENT', industry: ['E_COMMERCE'], body_params: ['A-17'] };
const COMMON = { language: 'en_US', category: 'UTILITY', body_param_types: ['TEXT'] };
export const LIBRARY: readonly LibraryTemplate[] = [
  {
    ...{ ...COMMON, ...ORDERS },
    id: '310000000000001',
    name: 'delivery_update_1',
    usecase: 'DELIVERY_UPDATE',
    header: 'Your delivery',
    body: 'Good news, order {{1}} is on its way and arrives soon.',
  },
  {
    ...{ ...COMMON, ...ORDERS },
    id: '310000000000002',
    name: 'order_confirmed_1',
    usecase: 'ORDER_CONFIRMATION',
    body: 'Thank you, order {{1}} is confirmed.',
  },
  {
    ...COMMON,
    topic: 'IDENTITY_AND_SECURITY',
    industry: [],
    id: '310000000000003',
    name: 'verify_code_1',
    category: 'AUTHENTICATION',
    usecase: 'VERIFICATION_CODE',
    body: '{{1}} is your verification code.',
    body_params: ['123456'],
  },
];

/** https://developers.facebook.com/docs/graph-api/reference/message_template_library */
function library(call: Call): JsonObject {
  const { query } = call;
  const is = (key: string, value: unknown): boolean => {
    const wanted = query.get(key);
    if (!wanted) return true;
    return Array.isArray(value) ? value.includes(wanted) : value === wanted;
  };
  const search = query.get('search')?.toLowerCase() ?? '';
  const found = LIBRARY.filter(
    (one) =>
      ['name', 'language', 'topic', 'usecase', 'industry'].every((key) => is(key, one[key])) &&
      `${one.name} ${one.body}`.toLowerCase().includes(search),
  );
  return listAnswer(
    page(found, ({ name }) => name, call),
    (one) => one,
  );
}

/** https://developers.facebook.com/docs/whatsapp/business-management-api/analytics */
function analytics(call: Call): JsonObject {
  const { query } = call;
  const [start, end] = periodOf(query.get('start'), query.get('end'));
  requireOneOf(query.get('granularity')?.toUpperCase(), 'granularity', ['DAILY']);
  for (const metric of query.get('metric_types')?.match(/\w+/g) ?? []) {
    requireOneOf(metric.toLowerCase(), 'metric_types', METRICS);
  }
  const ids: string[] = query.get('template_ids')?.match(/\d+/g) ?? [];
  if (ids.length === 0 || ids.length > TEMPLATES_MAX) {
    throw invalid(`Param template_ids must have 1 to ${TEMPLATES_MAX} ids`);
  }
  const own = accountOf(call).templates;
  const strange = ids.find((id) => !own.has(id));
  if (strange) throw invalid(`Template ${strange} does not belong to the account`);
  const points = new Map<string, JsonObject & Record<'sent' | Counted, number>>();
  for (const message of call.core.journal.messages.walk()) {
    const { template_id, time } = message;
    if (template_id === null || !ids.includes(template_id)) continue;
    const from = dayOf(time / 1000);
    if (from + DAY_S <= start || from >= end) continue;
    const key = `${template_id}/${from}`;
    const point = points.get(key) ?? {
      template_id,
      start: from,
      end: from + DAY_S,
      sent: 0,
      delivered: 0,
      read: 0,
    };
    point.sent += 1;
    for (const status of COUNTED) point[status] += had(message, status) ? 1 : 0;
    points.set(key, point);
  }
  const data_points = [...points.values()];
  return listAnswer(
    page(
      data_points.length > 0
        ? [{ granularity: 'DAILY', product_type: 'cloud_api', data_points }]
        : [],
      () => 'cloud_api',
      call,
    ),
    (one) => one,
  );
}

const COUNTED = ['delivered', 'read'] as const;
type Counted = (typeof COUNTED)[number];

const had = ({ history }: SentMessage, wanted: StatusName): boolean =>
  history.some(({ status }) => status === wanted);
