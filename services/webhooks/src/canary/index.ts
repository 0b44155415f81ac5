// The canary: a message on the operator's own test account at a fixed interval, on the same path as
// a partner's: REST in, the upstream, its status, the event, a receiver of our own. Publishes the
// durations and failures as metrics. One replica sends; the event may reach any replica, so Redis
// passes it on.
import { createPoller, pause } from '@bmg/common/lifecycle';
import { guardedPost, PostFailed, type GuardedAgent } from '@bmg/common/outbound';
import type { RedisConnection } from '@bmg/common/redis';
import {
  endSpan,
  metrics,
  startSpan,
  traceIds,
  traceparent,
  type Logger,
} from '@bmg/common/telemetry';
import type { Config } from '../config';
import { isSignedByUpstream } from '../ground/upstream-signature';

interface CanaryDependencies {
  redis: RedisConnection;
  agent: GuardedAgent;
  log: Logger;
}

/** Takes an event posted to the canary's receiver; returns the HTTP status. */
export type CanaryReceiver = (body: Buffer, signature: string) => Promise<number>;

type Outcome = 'ok' | 'refused' | 'unreachable' | 'not_delivered' | 'no_event';

type Configured = NonNullable<ReturnType<typeof configured>>;

const TURN_KEY = 'bmg:canary:turn';
const TURN_CHECK_MS = 1_000;
/** Ends a turn a little before the next one, so that the polls of the replicas do not skip one. */
const TURN_MARGIN_MS = 500;
const EVENT_CHECK_MS = 100;
const EVENT_KEPT_S = 600;
const LANGUAGE = 'en_US';
const FAILED = 'message.failed';
const eventKey = (message_id: string): string => `bmg:canary:event:${message_id}`;

/** Undefined unless the canary is configured. */
export function createCanary(settings: Config, deps: CanaryDependencies) {
  const canary = configured(settings);
  if (!canary) return undefined;
  // The series exists from the start: its absence means that there is no canary.
  metrics.canary_runs.inc({ outcome: 'ok' }, 0);
  return {
    sender: createPoller('canary', TURN_CHECK_MS, (signal) => turn(canary, deps, signal), deps.log),
    receive: createReceiver(canary.secret, deps),
  };
}

function configured(settings: Config) {
  const { CANARY_URL, CANARY_PARTNER_KEY, CANARY_WEBHOOK_SECRET, CANARY_WABA_ID } = settings;
  if (!CANARY_URL || !CANARY_PARTNER_KEY || !CANARY_WEBHOOK_SECRET || !CANARY_WABA_ID) {
    return undefined;
  }
  const template = { name: settings.CANARY_TEMPLATE, language: LANGUAGE };
  return {
    url: `${CANARY_URL.replace(/\/$/, '')}/messages/template`,
    headers: {
      'content-type': 'application/json',
      'x-partner-key': CANARY_PARTNER_KEY,
      'x-waba-id': CANARY_WABA_ID,
    },
    body: Buffer.from(JSON.stringify({ to: settings.CANARY_TO, template })),
    secret: CANARY_WEBHOOK_SECRET,
    every_ms: settings.CANARY_EVERY_S * 1_000,
    timeout_ms: settings.CANARY_TIMEOUT_S * 1_000,
  };
}

/** One replica takes the turn; a crash of its process costs only this turn. */
async function turn(
  canary: Configured,
  { redis: { redis, up }, agent, log }: CanaryDependencies,
  signal: AbortSignal,
): Promise<void> {
  if (!up()) return;
  const turn_ms = canary.every_ms - TURN_MARGIN_MS;
  if ((await redis.set(TURN_KEY, '1', 'PX', turn_ms, 'NX')) === null) return;
  const span = startSpan('canary');
  const context = span.spanContext();
  const started = performance.now();
  const passed_ms = (): number => performance.now() - started;
  const waitForEvent = async (message_id: string): Promise<Outcome> => {
    while (passed_ms() < canary.timeout_ms && !signal.aborted) {
      const event = await redis.get(eventKey(message_id)).catch(() => null);
      if (event !== null) return event === FAILED ? 'not_delivered' : 'ok';
      await pause(EVENT_CHECK_MS, signal);
    }
    return 'no_event';
  };
  const headers = { ...canary.headers, traceparent: traceparent(context) };
  const sent = await send(canary, headers, agent);
  const outcome = 'message_id' in sent ? await waitForEvent(sent.message_id) : sent.outcome;
  // A shutdown is not a failure.
  if (signal.aborted && outcome === 'no_event') return endSpan(span);
  metrics.canary_runs.inc({ outcome });
  if (outcome === 'ok') metrics.canary_duration.observe({}, passed_ms() / 1_000, context);
  endSpan(span, outcome === 'ok' ? undefined : { code: outcome });
  const line = { ...sent, outcome, duration_ms: Math.round(passed_ms()), ...traceIds(context) };
  if (outcome === 'ok') log.info(line, 'canary');
  else log.warn(line, 'canary failed');
}

type Sent = { message_id: string } | { outcome: Outcome; error: string };

async function send(
  { url, body, timeout_ms }: Configured,
  headers: Record<string, string>,
  agent: GuardedAgent,
): Promise<Sent> {
  try {
    const { status, answer } = await guardedPost(url, body, {
      agent,
      pool: 'canary',
      headers,
      timeout_ms,
    });
    const message_id = /"message_id":"([^"]+)"/.exec(answer.toString('utf8'))?.[1];
    if (status === 200 && message_id !== undefined) return { message_id };
    return { outcome: 'refused', error: `HTTP ${status}` };
  } catch (error) {
    return { outcome: 'unreachable', error: error instanceof PostFailed ? error.reason : 'failed' };
  }
}

const createReceiver =
  (secret: string, { redis: { redis, up } }: CanaryDependencies): CanaryReceiver =>
  async (body, signature) => {
    if (!isSignedByUpstream(body, signature, secret)) return 401;
    const event = readEvent(body);
    if (!event) return 200;
    // The delivery is repeated.
    if (!up()) return 503;
    await redis.set(eventKey(event.message_id), event.name, 'EX', EVENT_KEPT_S);
    return 200;
  };

/** Undefined for an event that is not the status of a message. */
function readEvent(body: Buffer): { name: string; message_id: string } | undefined {
  const { event, data } = JSON.parse(body.toString('utf8')) as {
    event?: unknown;
    data?: { message_id?: unknown; status?: unknown };
  };
  const { message_id, status } = data ?? {};
  return typeof event === 'string' && typeof message_id === 'string' && status !== undefined
    ? { name: event, message_id }
    : undefined;
}
