// The gateway's service level objectives, and alerts on the rate at which the month's error budget
// is spent. Each alert combines a long window, which shows that the failures matter, with a short
// one, which shows that they continue.
interface Condition {
  expr: string;
  summary: string;
  /** Metrics of engine exporters or the cluster; without them the alert never fires. */
  needs?: string[];
}

export interface Alert extends Condition {
  name: string;
  severity: 'page' | 'ticket';
  for: string;
}

/**
 * Alerts by name, and how long each must hold until it fires. `page` wakes a person, `ticket` can
 * wait until the next working day.
 */
export type Rows = Record<string, Condition & ({ page: string } | { ticket: string })>;

export const alertsOf = (rows: Rows): Alert[] =>
  Object.entries(rows).map(([name, row]) =>
    'page' in row
      ? { ...row, name, severity: 'page', for: row.page }
      : { ...row, name, severity: 'ticket', for: row.ticket },
  );

interface Promise {
  /** The prefix of its rules' names. */
  name: string;
  text: string;
  bad(window: string): string;
  all(window: string): string;
}

/** The error budget: the share that may fail. */
const ALLOWANCE = 0.001;

const count = (metric: string, window: string): string => `sum(rate(${metric}[${window}]))`;

const PROMISES: Promise[] = [
  {
    name: 'Ingress',
    text: '99.9 % of the upstream’s webhooks are accepted',
    bad: (w) => count('ingress_duration_seconds_count{http_response_status_code=~"5.."}', w),
    all: (w) => count('ingress_duration_seconds_count', w),
  },
  {
    name: 'Delivery',
    text: '99.9 % of events are ready to be sent within 5 s of the upstream’s webhook',
    bad: (w) =>
      `${count('webhook_intake_delay_seconds_count', w)} - ${count('webhook_intake_delay_seconds_bucket{le="5"}', w)}`,
    all: (w) => count('webhook_intake_delay_seconds_count', w),
  },
  {
    name: 'Edge',
    text: '99.9 % of partners’ requests do not fail because of us (502 is the upstream’s)',
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

export const recordings = PROMISES.flatMap((promise) =>
  WINDOWS.map((window) => ({
    record: ratio(promise, window),
    // There is no series without failures, hence vector(0); without traffic there is no ratio.
    expr: `(${promise.bad(window)} or vector(0)) / (${promise.all(window)} > 0)`,
  })),
);

/** True when both windows spend the error budget `speed` times as fast as the month allows. */
const burns = (promise: Promise, [long, short]: [string, string], speed: number): string =>
  [long, short]
    .map((window) => `${ratio(promise, window)} > ${Number((speed * ALLOWANCE).toFixed(6))}`)
    .join(' and ');

export const promiseAlerts: Alert[] = PROMISES.flatMap((promise) =>
  alertsOf({
    [`${promise.name}PromiseBurnsFast`]: {
      page: '2m',
      expr: `(${burns(promise, ['1h', '5m'], 14.4)})\nor\n(${burns(promise, ['6h', '30m'], 6)})`,
      summary: `The month’s error budget will be spent within two days: ${promise.text}`,
    },
    [`${promise.name}PromiseBurnsSlowly`]: {
      ticket: '1h',
      expr: burns(promise, ['3d', '6h'], 1),
      summary: `The error budget will be spent before the month ends: ${promise.text}`,
    },
  }),
);
