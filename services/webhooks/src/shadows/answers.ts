// The comparison of two receivers: kinds of answers, and times as counts by length. Pure functions.
import type { OutboundFailure } from '@bmg/common/outbound';

export interface Answer {
  /** Null if the receiver did not answer. */
  http_status: number | null;
  error: string | null;
  duration_ms: number;
}

/** One event that both receivers got. */
export interface Compared {
  event_id: string;
  event: string;
  at: Date;
  first: Answer;
  shadow: Answer;
}

/** `aborted` is missing: it was cancelled on our side. */
const FAILURES: Readonly<Record<Exclude<OutboundFailure, 'aborted'>, true>> = {
  timeout: true,
  refused: true,
  reset: true,
  dns: true,
  tls_expired: true,
  tls_untrusted: true,
  tls_wrong_name: true,
  tls_missing: true,
  tls: true,
  url_refused: true,
  protocol: true,
};
const CLASSES: ReadonlySet<number> = new Set([2, 3, 4, 5]);

/** The class of the status, such as `2xx`, or the failure, such as `timeout`: few values. */
export function kindOf({ http_status, error }: Pick<Answer, 'http_status' | 'error'>): string {
  if (http_status === null)
    return error !== null && Object.hasOwn(FAILURES, error) ? error : 'failed';
  const of_status = Math.floor(http_status / 100);
  return CLASSES.has(of_status) ? `${of_status}xx` : 'other';
}

export const isDifferent = ({ first, shadow }: Compared): boolean =>
  kindOf(first) !== kindOf(shadow);

/** A time is counted in the bucket of its length; each is a tenth longer than the one before. */
const GROWTH = 1.1;
const BUCKET_MAX = 100;

export const bucketOf = (duration_ms: number): number =>
  duration_ms <= 1 ? 0 : Math.min(BUCKET_MAX, Math.ceil(Math.log(duration_ms) / Math.log(GROWTH)));

/** The milliseconds that this share of the times does not exceed, up to a tenth too long. */
export function quantileOf(
  counts: Readonly<Record<string, number>>,
  share: number,
): number | undefined {
  const buckets = Object.entries(counts)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([one], [other]) => one - other);
  let left = Math.ceil(share * buckets.reduce((sum, [, count]) => sum + count, 0));
  for (const [bucket, count] of buckets) {
    left -= count;
    if (left <= 0) return Math.round(GROWTH ** bucket);
  }
  return undefined;
}
