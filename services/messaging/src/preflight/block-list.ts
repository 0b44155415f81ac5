// The customers that a number has blocked. The upstream keeps the list: it is read in bounded
// parts, and kept for some seconds.
import { reason, type Reason } from '@bmg/common/preflight';
import { LRUCache } from '@bmg/common/cache';
import { numberKey } from '@bmg/common/ids';
import { ownCall, type Call } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import { eachPage, itemsOf, segment, type Upstream } from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';

interface BlockList {
  /** Phone numbers and BSUIDs. */
  ids: ReadonlySet<string>;
  /** The keys of the numbers, for recipients whose id is not known. */
  keys: ReadonlySet<string>;
  /** False if more customers may be blocked. */
  complete: boolean;
}

const PAGE = 100;
const PAGES_MAX = 10;
const CACHED_MS = 30_000;
const NUMBERS_MAX = 200;
/** A pre-flight does not wait longer. */
const READ_LIMIT_MS = 1_000;

export function createBlockLists(upstream: Pick<Upstream, 'request'>, log: Logger) {
  interface Reader {
    access_token: string;
    call: Call;
  }
  const cache = new LRUCache<string, BlockList, Reader>({
    max: NUMBERS_MAX,
    ttl: CACHED_MS,
    fetchMethod: async (phone_number_id, _stale, { context: { access_token, call } }) => {
      const own = ownCall(call.span, READ_LIMIT_MS);
      const ids = new Set<string>();
      const ask = (after: string | undefined) =>
        upstream.request(
          {
            operation: 'GET /{phone_number_id}/block_users',
            method: 'GET',
            path: `/${segment(phone_number_id)}/block_users`,
            query: { limit: PAGE, after },
            token: access_token,
          },
          own,
        );
      try {
        let complete = true;
        for await (const { body, next } of eachPage(ask, PAGES_MAX)) {
          for (const { wa_id, user_id } of itemsOf(body)) {
            for (const id of [wa_id, user_id]) if (typeof id === 'string') ids.add(id);
          }
          complete = next === undefined;
        }
        return blockList(ids, complete);
      } catch (error) {
        log.warn({ err: error }, 'failed to read the block list of a number');
        return blockList(ids, false);
      }
    },
  });
  return {
    /** Never throws. */
    of: ({ phone_number_id }: Target, access_token: string, call: Call): Promise<BlockList> =>
      cache.forceFetch(phone_number_id, { context: { access_token, call } }),
  };
}

export type BlockLists = ReturnType<typeof createBlockLists>;

export const blockList = (ids: Iterable<string>, complete: boolean): BlockList => ({
  ids: new Set(ids),
  keys: new Set([...ids].map(numberKey)),
  complete,
});

/** `ids`: the recipient as given, and the id that the platform gave for it. */
export const blockReasons = (list: BlockList, ids: readonly string[]): Reason[] =>
  isBlocked(list, ids)
    ? [
        reason('no', {
          code: 'RECIPIENT_BLOCKED',
          field: 'to',
          message: 'is blocked by this number',
          upstream_code: 131_026,
        }),
      ]
    : [];

/** The platform lists its own ids: a recipient without one is compared by the rule for numbers. */
const isBlocked = (list: BlockList, [recipient = '', ...given]: readonly string[]): boolean =>
  given.length > 0
    ? [recipient, ...given].some((id) => list.ids.has(id))
    : list.keys.has(numberKey(recipient));

/** About every customer that the list does not name. */
export const incompleteList = ({ complete }: BlockList): Reason[] =>
  complete
    ? []
    : [
        reason('note', {
          code: 'BLOCK_LIST_UNKNOWN',
          message: 'the list of the customers that the number has blocked could not be read whole',
        }),
      ];
