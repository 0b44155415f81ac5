// Gap repair: reads the statuses of messages whose webhooks are overdue from the upstream, and
// publishes the missing ones as webhooks. A repaired status gets the event id that its webhook
// would have had, so that partners get it once.
import { topics } from '@bmg/common/bus';
import type { Credentials } from '@bmg/common/directory';
import { ApiError } from '@bmg/common/errors';
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import { ownCall, type Call } from '@bmg/common/rpc';
import { endSpan, metrics, startSpan, traceIds, type Span } from '@bmg/common/telemetry';
import { segment } from '@bmg/common/upstream';
import { split } from '@bmg/common/upstream-webhook';
import type { Dependencies, Needs } from '../dependencies';
import type { DueRecord } from './store';
import { HISTORY_FIELDS, missingFrom, readHistory, webhookOf, type KnownStatus } from './history';
import type { Losses } from './losses';
import type { HistoryQuota } from './history-quota';

interface RepairDependencies
  extends
    Needs<{ contacts: 'find'; bus: 'publish'; redis: 'up' }>,
    Pick<Dependencies, 'overdue' | 'upstream' | 'now' | 'log'> {
  credentials: { of(...asked: Parameters<Credentials['of']>): Promise<{ access_token: string }> };
  quota: HistoryQuota;
  losses: Losses;
  delay_ms: number;
}

const ROUND_EVERY_MS = 1_000;
const ROUND_MAX = 200;
const AT_ONCE = 8;
const REQUEST_LIMIT_MS = 15_000;
/** Longer than a request takes. A record whose replica crashed is due again after this time. */
const LEASE_MS = 120_000;
/** The first attempt is one delay after the send; the others follow after these many delays. */
const FURTHER_ATTEMPTS = [4, 19];
/** Older messages are not repaired. */
const AGE_MAX_MS = 3 * 86_400_000;
/** A webhook of a status that is younger may be on its way. */
const GRACE_MS = 60_000;

/** "Not available for this number": remembered, not an outage. */
const REFUSALS: ReadonlySet<number> = new Set([3, 10, 100, 200, 803, 2500]);
const APP_LIMIT = 4;
const ACCOUNT_LIMITS: ReadonlySet<number> = new Set([17, 613, 80007]);

export function createGapRepair(deps: RepairDependencies): Poller {
  return createPoller('gap repair', ROUND_EVERY_MS, () => round(deps), deps.log);
}

/** Resolves to true when more may be due. */
async function round(deps: RepairDependencies): Promise<boolean> {
  await deps.losses.publish();
  // The quota is unknown while Redis is unavailable: no requests.
  if (!deps.redis.up()) return false;
  const due = await deps.overdue.due(deps.now(), ROUND_MAX);
  const postponed: Array<{ record: DueRecord; until: Date }> = [];
  for (let at = 0; at < due.length; at += AT_ONCE) {
    await Promise.all(
      due.slice(at, at + AT_ONCE).map(async (record) => {
        const until = await repair(deps, record);
        if (until) postponed.push({ record, until });
      }),
    );
  }
  await deps.overdue.postpone(postponed);
  return due.length === ROUND_MAX;
}

/** Resolves to the time of the next attempt if the quota forbids a request now. */
async function repair(deps: RepairDependencies, record: DueRecord): Promise<Date | undefined> {
  const { waba_id, phone_number_id } = record;
  const age_ms = deps.now().getTime() - record.sent_at.getTime();
  // A reaction is only ever reported as sent.
  if (age_ms > AGE_MAX_MS || (record.kind === 'reaction' && record.status !== 'accepted')) {
    await deps.overdue.finish(record, undefined);
    return undefined;
  }
  const minor = record.status === 'delivered';
  const until = await deps.quota.take({ waba_id, phone_number_id, minor }, deps.now());
  // Spread over a delay: a large backlog must not be moved again every minute.
  if (until) return new Date(until.getTime() + Math.random() * deps.delay_ms);
  const lease = new Date(deps.now().getTime() + LEASE_MS);
  if (!(await deps.overdue.claim(record, lease))) return undefined;
  const span = startSpan('repair statuses');
  try {
    const known = await requestHistory(deps, record, ownCall(span.spanContext(), REQUEST_LIMIT_MS));
    metrics.gap_repair_requests.inc({ outcome: 'ok' });
    await publishMissing(deps, record, known, span);
    await deps.overdue.finish(record, nextAttempt(deps, record));
    endSpan(span);
  } catch (error) {
    const code = error instanceof ApiError ? error.code : 'INTERNAL_ERROR';
    endSpan(span, { code });
    await failed(deps, record, error, span);
  }
  return undefined;
}

async function requestHistory(
  { credentials, upstream }: RepairDependencies,
  { partner_id, waba_id, phone_number_id, message_id }: DueRecord,
  call: Call,
): Promise<KnownStatus[]> {
  const target = { partner_id, waba_id, phone_number_id, directory_version: '' };
  const { access_token } = await credentials.of(target, call);
  const answer = await upstream.request(
    {
      operation: 'GET /{phone_number_id}/message_history',
      method: 'GET',
      path: `/${segment(phone_number_id)}/message_history`,
      query: { message_id, fields: HISTORY_FIELDS },
      token: access_token,
    },
    call,
  );
  return readHistory(answer, message_id);
}

async function publishMissing(
  deps: RepairDependencies,
  record: DueRecord,
  known: KnownStatus[],
  span: Span,
): Promise<void> {
  const grace_ms = Math.min(GRACE_MS, deps.delay_ms / 2);
  const before = new Date(deps.now().getTime() - grace_ms);
  const missing = missingFrom(record, known, before);
  if (missing.length === 0) return;
  const contact = await deps.contacts.find(record.waba_id, record.recipient);
  const body = Buffer.from(JSON.stringify(webhookOf(record, contact?.wa_id, missing)), 'utf8');
  const received_at_ms = deps.now().getTime();
  await deps.bus.publish(
    split(body).map(({ key, bytes }) => ({
      topic: topics.webhook,
      key,
      message: { body: bytes, received_at_ms, reconciled: true },
      span: span.spanContext(),
    })),
  );
  for (const { status } of missing) metrics.gap_repair_statuses.inc({ status });
  deps.log.info(
    {
      phone_number_id: record.phone_number_id,
      message_id: record.message_id,
      statuses: missing.map(({ status }) => status),
      ...traceIds(span.spanContext()),
    },
    'statuses repaired',
  );
}

function nextAttempt({ delay_ms, now }: RepairDependencies, { checks = 0 }: DueRecord) {
  const delays = FURTHER_ATTEMPTS[checks];
  return delays === undefined ? undefined : new Date(now().getTime() + delays * delay_ms);
}

async function failed(
  deps: RepairDependencies,
  record: DueRecord,
  error: unknown,
  span: Span,
): Promise<void> {
  const outcome = outcomeOf(error);
  metrics.gap_repair_requests.inc({ outcome });
  // The lease has run out by the next attempt, which finds the refusal or the pause.
  if (outcome === 'refused') await deps.quota.refuse(record.phone_number_id);
  else if (outcome === 'limited') {
    const app = (error as ApiError).upstream_code === APP_LIMIT;
    await deps.quota.pause(app ? 'app' : record.waba_id);
  } else await deps.overdue.finish(record, nextAttempt(deps, record));
  const level = outcome === 'failed' ? 'warn' : 'info';
  const { phone_number_id, message_id } = record;
  deps.log[level](
    { err: error, outcome, phone_number_id, message_id, ...traceIds(span.spanContext()) },
    'failed to read message history',
  );
}

/** 404 without an error object has no code and is not retryable. */
function outcomeOf(error: unknown): 'refused' | 'limited' | 'failed' {
  if (!(error instanceof ApiError) || error.code !== 'UPSTREAM_ERROR') return 'failed';
  const { upstream_code: code, retryable } = error;
  if (code === undefined) return retryable ? 'failed' : 'refused';
  if (code === APP_LIMIT || ACCOUNT_LIMITS.has(code)) return 'limited';
  return REFUSALS.has(code) ? 'refused' : 'failed';
}
