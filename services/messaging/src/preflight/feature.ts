import { createPool } from '@bmg/common/overload';
import { implementPart } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { MessagingDefinition } from '@bmg/proto/messaging';
import type { Dependencies } from '../dependencies';
import { createBlockLists } from './block-list';
import { LOOKS_MAX, LOOKS_SHARE } from './media';
import { preflightContacts } from './preflight-contacts';
import { preflightMessage } from './preflight-message';

export function preflight(shared: Dependencies): Feature {
  const { upstream, log } = shared;
  const deps = {
    ...shared,
    blockLists: createBlockLists(upstream, log),
    looks: createPool(
      { server: 'media', reason: 'looks', holder: 'partner', max: LOOKS_MAX, share: LOOKS_SHARE },
      log,
    ),
  };
  return {
    rpcs: [
      implementPart(MessagingDefinition, {
        checkMessage: (request, call) => preflightMessage(deps, request, call),
        checkContacts: (request, call) => preflightContacts(deps, request, call),
      }),
    ],
  };
}
