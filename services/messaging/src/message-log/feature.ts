import { createPool } from '@bmg/common/overload';
import { implementPart } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { MessagingDefinition } from '@bmg/proto/messaging';
import type { Dependencies } from '../dependencies';
import { isSearch } from './store';
import { getTimeline } from './get-timeline';
import { listMessages } from './list-messages';
import { SEARCHED_MAX } from './search';

export function messageLog(deps: Dependencies): Feature {
  const { run } = deps.recordReads;
  const searches = createPool(
    { server: 'timeline', reason: 'numbers', holder: 'partner', max: SEARCHED_MAX },
    deps.log,
  );
  const timelines = { ...deps, searches };
  return {
    rpcs: [
      implementPart(MessagingDefinition, {
        listMessages: (request, call) =>
          run(
            request.partner_id,
            isSearch(request, request.broadcast_id !== undefined) ? 'search' : 'page',
            (looked_at) => listMessages(deps, request, call, looked_at),
          ),
        getTimeline: (request, call) =>
          run(request.partner_id, 'timeline', () => getTimeline(timelines, request, call)),
      }),
    ],
  };
}
