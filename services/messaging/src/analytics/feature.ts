import { implementPart } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { needTarget } from '@bmg/common/upstream';
import { MessagingDefinition } from '@bmg/proto/messaging';
import type { Dependencies } from '../dependencies';
import { getAnalytics } from './handlers';

export const analytics = (deps: Dependencies): Feature => ({
  rpcs: [
    implementPart(MessagingDefinition, {
      getAnalytics: (request, call) =>
        deps.recordReads.run(needTarget(request.target).partner_id, 'days', () =>
          getAnalytics(deps, request, call),
        ),
    }),
  ],
});
