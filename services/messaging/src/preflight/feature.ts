import { createPool } from '@bmg/common/overload';
import type { Handlers } from '@bmg/common/rpc';
import type { MessagingDefinition } from '@bmg/proto/messaging';
import type { Dependencies } from '../dependencies';
import { createBlockLists } from './block-list';
import { LOOKS_MAX, LOOKS_SHARE } from './media';
import { preflightContacts } from './preflight-contacts';
import { preflightMessage } from './preflight-message';

export interface PreflightFeature {
  handlers: Pick<Handlers<MessagingDefinition>, 'checkMessage' | 'checkContacts'>;
}

export function wirePreflight(shared: Dependencies): PreflightFeature {
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
    handlers: {
      checkMessage: (q, call) => preflightMessage(deps, q, call),
      checkContacts: (q, call) => preflightContacts(deps, q, call),
    },
  };
}
