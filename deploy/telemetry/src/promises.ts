// What the gateway promises, as ratios of what went wrong, and the alerts on how quickly the allowance of a
// month is used up: the usual pairs of a long window, which says that it matters, and a short one, which
// says that it still goes on.
import type { Alert, Recording } from './rule';

interface Promise {
  /** Begins the names of its rules. */
  name: string;
  text: string;
  /** The share that may go wrong. */
  allowance: number;
  bad(window: string): string;
  all(window: string): string;
}

const count = (metric: string, window: string): string => `sum(rate(${metric}[${window}]))`;

const PROMISES: Promise[] = [
  {
    name: 'Ingress',
    text: 'the upstream’s webhooks are taken (99.9 %)',
    allowance: 0.001,
    bad: (w) => count('ingress_duration_seconds_count{http_response_status_code=~"5.."}', w),
    all: (w) => count('ingress_duration_seconds_count', w),
  },
  {
    name: 'Delivery',
    text: 'events could be sent to their partner within 5 s of the upstream’s webhook (99.9 %)',
    allowance: 0.001,
    bad: (w) =>
      `${count('webhook_intake_delay_seconds_count', w)} - ${count('webhook_intake_delay_seconds_bucket{le="5"}', w)}`,
    all: (w) => count('webhook_intake_delay_seconds_count', w),
  },
  {
    name: 'Edge',
    text: 'partners’ requests do not fail through us (99.9 %; 502 is the upstream’s)',
    allowance: 0.001,
    bad: (w) =>
      count(
        'http_server_request_duration_seconds_count{http_response_status_code=~"500|503|504"}',
        w,
      ),
    all: (w) => count('http_server_request_duration_seconds_count', w),
  },
];

const WINDOWS = ['5m', '30m', '1h', '6h', '3d'];

const ratio = ({ name }: Promise, window: string): string =>
  `bmg:${name.toLowerCase()}_failed:ratio_rate${window}`;

export const recordings: Recording[] = PROMISES.flatMap((promise) =>
  WINDOWS.map((window) => ({
    record: ratio(promise, window),
    // A failure that never happened has no series; without traffic there is no ratio.
    expr: `(${promise.bad(window)} or vector(0)) / (${promise.all(window)} > 0)`,
  })),
);

/** Both windows use up the allowance at `speed` times the rate that would last a month. */
const burns = (promise: Promise, [long, short]: [string, string], speed: number): string =>
  [long, short]
    .map(
      (window) => `${ratio(promise, window)} > ${Number((speed * promise.allowance).toFixed(6))}`,
    )
    .join(' and ');

export const promiseAlerts: Alert[] = PROMISES.flatMap((promise) => [
  {
    name: `${promise.name}PromiseBurnsFast`,
    severity: 'page',
    for: '2m',
    expr: `(${burns(promise, ['1h', '5m'], 14.4)})\nor\n(${burns(promise, ['6h', '30m'], 6)})`,
    summary: `A month’s allowance is gone within two days: ${promise.text}`,
  },
  {
    name: `${promise.name}PromiseBurnsSlowly`,
    severity: 'ticket',
    for: '1h',
    expr: burns(promise, ['3d', '6h'], 1),
    summary: `The month’s allowance will not last: ${promise.text}`,
  },
]);
