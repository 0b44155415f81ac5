// A number's messaging limit: the upstream's field for it, and the contract's spelling of its
// value.
import { ApiError } from '../errors';
import { isObject, type Json } from './answers';

/** The portfolio-wide limit replaced the number's own, the only one of older platforms. */
const FIELD = 'whatsapp_business_manager_messaging_limit';
const OLD_FIELD = 'messaging_limit_tier';
const UNKNOWN_FIELD = 100;

export const LIMIT_FIELDS = [FIELD, OLD_FIELD];

/** Reads a node with its limit. `read` gets the field's name, and then perhaps the old one. */
export async function readWithLimit(read: (limit_field: string) => Promise<Json>): Promise<Json> {
  return read(FIELD).catch((error: unknown) => {
    const isUnknown =
      error instanceof ApiError &&
      error.upstream_code === UNKNOWN_FIELD &&
      error.message.includes(FIELD);
    if (isUnknown) return read(OLD_FIELD);
    throw error;
  });
}

/** The tier, with the contract's UNLIMITED for TIER_UNLIMITED; null if the node has none. */
export function limitTierOf(node: Json): string | null {
  const value = node[FIELD] ?? node[OLD_FIELD];
  const tier = isObject(value) ? value[OLD_FIELD] : value;
  if (typeof tier !== 'string') return null;
  return tier === 'TIER_UNLIMITED' ? 'UNLIMITED' : tier;
}

/** Customers that a number may write to in 24 hours outside an open window, by tier (contract 10.2). */
const PEOPLE_OF_TIER: ReadonlyMap<string | undefined, number> = new Map([
  ['TIER_50', 50],
  ['TIER_250', 250],
  ['TIER_1K', 1_000],
  ['TIER_2K', 2_000],
  ['TIER_10K', 10_000],
  ['TIER_100K', 100_000],
]);

/** Undefined for an unlimited or unknown tier. */
export const peopleOfTier = (tier: string | undefined): number | undefined =>
  PEOPLE_OF_TIER.get(tier);
