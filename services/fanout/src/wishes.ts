// The extra events that partners ask for, from onboarding's directory, cached under the directory
// version of the partner. Only extra events are looked up: others cost nothing here.
import { VersionedCache, loadOne, partnerVersionKey, type Versions } from '@bmg/common/directory';
import { isUnimplemented } from '@bmg/common/errors';
import { type Call, type Client, ownCall } from '@bmg/common/rpc';
import type { SpanContext } from '@bmg/common/telemetry';
import type { DirectoryDefinition } from '@bmg/proto/onboarding';
import { countIgnored, type NormalisedEvent } from './normalise';
import type { Addressed, Item } from './read-webhook';

const PARTNERS_MAX = 20_000;
const ASK_LIMIT_MS = 5_000;
const NOTHING: ReadonlySet<string> = new Set();

export type Wishes = ReturnType<typeof createWishes>;

export function createWishes(directory: Client<DirectoryDefinition>, versions: Versions) {
  const load = async (partner_ids: string[], call: Call): Promise<Array<ReadonlySet<string>>> => {
    try {
      const { wanted } = await directory.getExtraEvents({ partner_ids }, call);
      return partner_ids.map((partner_id) => new Set(wanted[partner_id]?.names));
    } catch (error) {
      // An onboarding of the previous release stores no such filter.
      if (isUnimplemented(error)) return partner_ids.map(() => NOTHING);
      throw error;
    }
  };
  const cache = new VersionedCache<ReadonlySet<string>, string>(PARTNERS_MAX, load);
  /**
   * Returns the extra events that each partner gets, by partner ID. Throws when the directory is
   * unavailable and the cache has no answer.
   */
  const of = async (
    concerned: readonly string[],
    span: SpanContext,
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
    const partner_ids = [...new Set(concerned)];
    if (partner_ids.length === 0) return new Map();
    const read = await versions.current(partner_ids.map(partnerVersionKey));
    const found = partner_ids.map(async (partner_id, index) => {
      const fetch = () => loadOne(load, partner_id, ownCall(span, ASK_LIMIT_MS));
      return [partner_id, await cache.get(partner_id, read?.[index], fetch, partner_id)] as const;
    });
    return new Map(await Promise.all(found));
  };
  return {
    of,
    /**
     * The items with the partners that get them: extra events go only to those that ask for them,
     * and one that no owner wants becomes an ignored item of its webhook. Throws like `of`.
     */
    async filter(addressed: Addressed[], span: SpanContext): Promise<Addressed[]> {
      const extra = addressed.filter(({ item }) => isExtra(item));
      const concerned = extra.flatMap(({ owner }) => owner.partner_ids);
      if (concerned.length === 0) return addressed;
      const wishes = await of(concerned, span);
      return addressed.flatMap((one) => {
        const { item, owner } = one;
        if (!isExtra(item) || owner.partner_ids.length === 0) return [one];
        const partner_ids = owner.partner_ids.filter((id) => wishes.get(id)?.has(item.event));
        if (partner_ids.length > 0) return [{ item, owner: { ...owner, partner_ids } }];
        countIgnored(item.from.normalised, item.ignored_as);
        return [];
      });
    },
  };
}

type Extra = Extract<Item, NormalisedEvent> & Required<Pick<NormalisedEvent, 'ignored_as'>>;

const isExtra = (item: Item): item is Extra => 'event' in item && item.ignored_as !== undefined;
