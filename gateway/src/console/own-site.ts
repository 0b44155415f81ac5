// Detects if a request comes from our own page. Browsers send this in headers that no script can
// change; a browser that sends neither header is too old to be trusted with a change.
import { ApiError } from '@bmg/common/errors';
import type { Context } from 'koa';

/** Throws for a change that another site may have made the browser send. */
export function checkOwnSite(context: Context, own_origin: string): void {
  const origin = context.get('origin');
  const is_own =
    origin === '' ? context.get('sec-fetch-site') === 'same-origin' : origin === own_origin;
  if (is_own) return;
  throw new ApiError(
    'UNAUTHORIZED',
    `changes are accepted only from ${own_origin} (header Origin)`,
  );
}
