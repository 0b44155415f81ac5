// GET /analytics: the upstream's figures of a business account, combined with the counts of our own
// message records for reads and failures, which the upstream does not report.
import { type Call, implementPart } from '@bmg/common/rpc';
import { needTarget, segment, type Json } from '@bmg/common/upstream';
import {
  type GetAnalyticsRequest,
  type GetAnalyticsResponse,
  MessagingDefinition,
} from '@bmg/proto/messaging';
import { dateOf, DAY_S, type DailyCount } from './store';
import type { Feature } from '@bmg/common/service';
import type { Dependencies, Needs } from '../dependencies';

type AnalyticsDependencies = Needs<{ credentials: 'of'; upstream: 'request'; dailyCounts: 'of' }> &
  Pick<Dependencies, 'now'>;

/** Contract 11.5: `days` is 7 unless given, and at most 90. */
const DAYS_DEFAULT = 7;
const DAYS_MAX = 90;

export async function getAnalytics(
  { credentials, upstream, dailyCounts, now }: AnalyticsDependencies,
  request: GetAnalyticsRequest,
  call: Call,
): Promise<GetAnalyticsResponse> {
  const target = needTarget(request.target);
  const { partner_id, waba_id } = target;
  const { access_token } = await credentials.of(target, call);
  const at = now();
  const days = utcDays(at, request.days > 0 ? Math.min(request.days, DAYS_MAX) : DAYS_DEFAULT);
  const [answer, counts] = await Promise.all([
    upstream.request(
      {
        operation: 'GET /{waba_id} (analytics)',
        method: 'GET',
        path: `/${segment(waba_id)}`,
        query: { fields: analyticsField(days) },
        token: access_token,
      },
      call,
    ),
    dailyCounts.of({ partner_id, waba_id }, days, at),
  ]);
  return combine(readPoints(answer), counts);
}

/** Midnights of whole UTC days as epoch seconds, oldest first; the last one is today's. */
export function utcDays(now: Date, days: number): number[] {
  const today = Math.floor(now.getTime() / 1_000 / DAY_S) * DAY_S;
  return Array.from({ length: days }, (_, index) => today - (days - 1 - index) * DAY_S);
}

function analyticsField(days: number[]): string {
  const start = days[0] as number;
  const end = (days.at(-1) as number) + DAY_S;
  return (
    `analytics.start(${start}).end(${end}).granularity(DAY)` +
    '.phone_numbers([]).product_types([0,2]).country_codes([])'
  );
}

type UpstreamPoint = Omit<GetAnalyticsResponse['data_points'][number], 'read'>;

/** The upstream leaves the field out when there is no data. */
export function readPoints(answer: Json): UpstreamPoint[] {
  const { data_points } = (answer['analytics'] ?? {}) as Json;
  const points = Array.isArray(data_points) ? (data_points as Json[]) : [];
  return points
    .map(({ start, end, sent, delivered }) => ({
      start: whole(start),
      end: whole(end),
      sent: whole(sent),
      delivered: whole(delivered),
    }))
    .sort((one, other) => one.start - other.start);
}

/**
 * The upstream does not count reads: each point gets our reads of the UTC day it covers most of.
 */
export function combine(points: UpstreamPoint[], counts: DailyCount[]): GetAnalyticsResponse {
  const reads = new Map(counts.map(({ date, read }) => [date, read]));
  const dayOf = ({ start, end }: UpstreamPoint): string =>
    dateOf(Math.floor((start + end) / 2 / DAY_S) * DAY_S);
  return {
    sent: sum(points.map(({ sent }) => sent)),
    delivered: sum(points.map(({ delivered }) => delivered)),
    read: sum(counts.map(({ read }) => read)),
    data_points: points.map((point) => ({ ...point, read: reads.get(dayOf(point)) ?? 0 })),
    daily_logs: counts.map(({ date, sent, failed }) => ({ date, sent, failed })),
  };
}

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

const whole = (value: unknown): number => {
  const number = Number(value ?? 0);
  return Number.isSafeInteger(number) && number >= 0 ? number : 0;
};

export const analytics = (deps: Dependencies): Feature => ({
  rpcs: [
    implementPart(MessagingDefinition, {
      getAnalytics: (request, call) =>
        deps.recordReads.run(needTarget(request.target).partner_id, 'days', () =>
          getAnalytics(deps, request, call),
        ),
    }),
  ],
});
