// A failed status in words: what the upstream's code means, and what to do.
import { upstreamError } from '@bmg/common/upstream';
import { errorAnchor, upstreamAdvice } from '../../error-guide';
import type { Fields } from '../endpoint';
import { siteOf } from '../parts/rows';

/** Null without a number. */
export function failureOf(error_code: string | undefined, base_url: string): Fields | null {
  const upstream_code = Number(error_code);
  if (!Number.isInteger(upstream_code)) return null;
  const { message, code, retryable } = upstreamError({ code: upstream_code }, []);
  const advice = upstreamAdvice(upstream_code);
  return {
    upstream_code,
    message: advice?.meaning ?? message,
    action: advice?.action ?? 'See the documentation of the upstream for this code.',
    retryable,
    doc_url: `${siteOf(base_url)}/docs#${errorAnchor(code, upstream_code)}`,
  };
}
