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
        listMessages: (q, call) =>
          run(
            q.partner_id,
            isSearch(q, q.broadcast_id !== undefined) ? 'search' : 'page',
            (looked_at) => listMessages(deps, q, call, looked_at),
          ),
        getTimeline: (q, call) =>
          run(q.partner_id, 'timeline', () => getTimeline(timelines, q, call)),
      }),
    ],
  };
}
