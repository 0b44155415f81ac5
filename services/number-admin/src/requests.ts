// Parts of requests and replies that several operations share: users, pages of lists, successes.
import { invalidField } from '@bmg/common/errors';
import { parseBsuid } from '@bmg/common/ids';
import { succeeded, without, type Json } from '@bmg/common/upstream';
import type { Node } from '@bmg/proto/common';

/**
 * One user in the upstream's form: a BSUID or a phone number. A number is passed on unchanged,
 * because the answer repeats it as `input`.
 */
export function userEntry(text: string, field: string): { user: string } | { user_id: string } {
  const given = text.trim();
  if (given === '') throw invalidField(field, 'must not be blank');
  const bsuid = parseBsuid(given);
  return bsuid === null ? { user: given } : { user_id: bsuid };
}

interface PageRequest {
  limit?: number | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

/**
 * The limit of a list that the caller pages. One above the maximum is lowered, and the reply
 * contains the limit used. The gateway lowers it too, but internal callers skip the gateway.
 */
export const usedLimit = ({ limit }: PageRequest, limit_max: number): number | undefined =>
  limit === undefined ? undefined : Math.min(limit, limit_max);

export const pageQuery = (request: PageRequest, limit_max: number) => ({
  limit: usedLimit(request, limit_max),
  after: request.after,
  before: request.before,
});

/** The other fields of a success, for the few edges that return any. */
export function outcome(body: Json): Node {
  succeeded(body);
  return { fields: without(body, 'messaging_product', 'success') };
}
