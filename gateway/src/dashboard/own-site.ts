// Whether a request comes from our own page: what browsers say of it, and no script can make them say
// otherwise. A browser that says nothing is too old to be trusted with a change.
import { ApiError } from '@bmg/common/errors';
import type { Context } from 'koa';

/** Throws for a change that another site may have had the browser send. */
export function checkOwnSite(context: Context, own_origin: string): void {
  const origin = context.get('origin');
  const own =
    origin === '' ? context.get('sec-fetch-site') === 'same-origin' : origin === own_origin;
  if (own) return;
  throw new ApiError('UNAUTHORIZED', `changes are taken from ${own_origin} alone (header Origin)`);
}
