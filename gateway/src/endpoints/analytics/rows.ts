import { MessagingDefinition } from '@bmg/proto/messaging';
import * as docs from './docs';
import * as schemas from './schemas';
import { get, rpc, type Endpoint } from '../endpoint';

export const analytics: Endpoint[] = [
  get('/analytics', rpc(MessagingDefinition, 'getAnalytics'), {
    scope: 'number',
    query: schemas.getAnalytics,
    reply: ({ daily_logs, ...numbers }, { target, query }) => ({
      waba_id: target.waba_id,
      period_days: query.days,
      meta_analytics: numbers,
      daily_logs,
    }),
    docs: docs.getAnalytics,
    summary: 'Retrieve message counts by day',
  }),
];
