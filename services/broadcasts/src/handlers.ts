import { ApiError } from '@bmg/common/errors';
import type { Handlers } from '@bmg/common/rpc';
import type { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import { createCreate, type CreateDependencies } from './create/create-broadcast';
import { forgetContacts } from './store/remove-contacts';
import { detail, nothingYet, standings, summary, type Standing } from './ledger/progress';
import type { Pace } from './pace/redis-pace';
import { chunkIds } from './request-id';
import type { Scope } from './store/broadcasts';
import type { Broadcast } from './store/types';

export type HandlerDependencies = CreateDependencies & { pace: Pick<Pace, 'rate'> };

/** Contract, Limits: `GET /broadcasts` paging. */
const LIST_DEFAULT = 20;
const LIST_MAX = 100;

// Unknown and another partner's are not to be told apart.
const notFound = (): ApiError => new ApiError('NOT_FOUND', 'there is no such broadcast');

const scopeOf = ({ partner_id, waba_id }: Scope): Scope => ({ partner_id, waba_id });

export function broadcastHandlers(deps: HandlerDependencies): Handlers<BroadcastsDefinition> {
  const { broadcasts, chunks, pace, now } = deps;

  /** One read for all of them; what has not started has nothing to count. */
  const standingOf = async (list: Broadcast[]): Promise<(broadcast: Broadcast) => Standing> => {
    const ids = list.filter(({ started_at }) => started_at !== null).flatMap(chunkIds);
    const found = standings(ids.length === 0 ? [] : await chunks.counts(ids));
    return ({ _id }) => found.get(_id) ?? nothingYet();
  };
  const paceOf = async ({ status, phone_number_id }: Broadcast) => {
    if (status !== 'processing') return { number_rate: undefined, sharing: 1 };
    const [number_rate, sharing] = await Promise.all([
      pace.rate(phone_number_id),
      broadcasts.countProcessing(phone_number_id),
    ]);
    return { number_rate, sharing };
  };

  return {
    createBroadcast: createCreate(deps),
    async listBroadcasts(q) {
      const limit = Math.min(q.limit > 0 ? q.limit : LIST_DEFAULT, LIST_MAX);
      const page = await broadcasts.list(scopeOf(q), { limit, offset: Math.max(0, q.offset) });
      const standing = await standingOf(page.broadcasts);
      return {
        broadcasts: page.broadcasts.map((broadcast) => summary(broadcast, standing(broadcast))),
        total: page.total,
      };
    },
    async getBroadcast(q) {
      const broadcast = await broadcasts.find(scopeOf(q), q.broadcast_id);
      if (!broadcast) throw notFound();
      const [standing, rate] = await Promise.all([standingOf([broadcast]), paceOf(broadcast)]);
      return detail(broadcast, standing(broadcast), now(), rate);
    },
    async cancelBroadcast(q) {
      const cancelled = await broadcasts.cancel(scopeOf(q), q.broadcast_id);
      if (cancelled) {
        await forgetContacts(deps, cancelled);
        return {};
      }
      const stands = await broadcasts.find(scopeOf(q), q.broadcast_id);
      if (!stands) throw notFound();
      // Cancelling a cancelled one: what was asked for is so already.
      if (stands.status === 'cancelled') return {};
      throw new ApiError('CANNOT_CANCEL', `the broadcast is already ${stands.status}`);
    },
  };
}
