import type { Handlers } from '@bmg/common/rpc';
import { needTarget } from '@bmg/common/upstream';
import type { MessagingDefinition } from '@bmg/proto/messaging';
import type { Dependencies } from '../dependencies';
import { getAnalytics } from './handlers';

export interface AnalyticsFeature {
  handlers: Pick<Handlers<MessagingDefinition>, 'getAnalytics'>;
}

export function wireAnalytics(deps: Dependencies): AnalyticsFeature {
  const { run } = deps.recordReads;
  return {
    handlers: {
      getAnalytics: (q, call) =>
        run(needTarget(q.target).partner_id, 'days', () => getAnalytics(deps, q, call)),
    },
  };
}
