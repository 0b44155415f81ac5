// Lists that are passed on as the upstream has them: how templates did, and the library.
import type { Handlers } from '@bmg/common/rpc';
import { cursorsOf, isObject, itemsOf, type Json, type Operations } from '@bmg/common/upstream';
import type { TemplatesDefinition } from '@bmg/proto/templates';

const DAY_S = 24 * 3600;
const METRICS = 'sent,delivered,read,clicked,cost';
/** Ten templates, each with a point for each of 90 days. */
const POINTS = { page_size: 100, items_max: 1_000 };
/** The upstream has one list of points for each granularity and product. */
const pointsOf = (body: Json): Json[] =>
  itemsOf(body).flatMap(({ data_points }) => itemsOf({ data: data_points }));

export const templateLists = (
  now: () => Date,
): Operations<
  Pick<Handlers<TemplatesDefinition>, 'getTemplateAnalytics' | 'listLibraryTemplates'>
> => ({
  getTemplateAnalytics: {
    upstream: 'GET /{waba_id}/template_analytics',
    query: ({ template_ids, days }) => {
      const end = Math.floor(now().getTime() / 1_000);
      return {
        start: end - days * DAY_S,
        end,
        granularity: 'daily',
        metric_types: METRICS,
        template_ids: `[${template_ids}]`,
      };
    },
    pages: { ...POINTS, items: pointsOf },
    reply: (body) => ({
      // IDs are too long for numbers.
      items: itemsOf(body).map((point) => ({
        ...point,
        template_id: String(point['template_id']),
      })),
      after: cursorsOf(body).after,
    }),
  },
  listLibraryTemplates: {
    upstream: 'GET /message_template_library',
    query: ({ target: _target, ...query }) => query,
    reply: (body, { limit }) => ({
      items: itemsOf(body).filter(isObject),
      ...cursorsOf(body),
      limit,
    }),
  },
});
