// The fan-out: raw webhooks → events → one delivery for each partner that owns the number. A batch
// is done, and its offsets committed, once all its messages are in Kafka.
import { topics, type Bus, type Outgoing, type Received } from '@bmg/common/bus';
import { endSpan, metrics, traceIds, type Logger } from '@bmg/common/telemetry';
import { stringifyData } from '@bmg/common/upstream-webhook';
import type { GetOwnersResponse } from '@bmg/proto/onboarding';
import type { UpstreamWebhook } from '@bmg/proto/stream';
import type { CategoryCosts } from './category-costs';
import type { Memory } from './memory';
import { createEnvelope, dataOf, outgoingOf, type Envelope } from './outgoing';
import type { Owners } from './owners';
import type { Wishes } from './wishes';
import {
  isPublished,
  itemsOf,
  readWebhook,
  resultsOf,
  type Addressed,
  type ReadWebhook,
} from './read-webhook';
import { createActivity, createStateRecords, type Activity } from './state-records';

export interface FanOutDependencies {
  bus: Bus;
  owners: Owners;
  wishes: Wishes;
  memory: Memory;
  categoryCosts: CategoryCosts;
  public_url: string;
  log: Logger;
}

/**
 * Webhooks are processed, and their messages published, in portions of about these sizes: a body of
 * 3 MB for fifty partners must not be in memory fifty times.
 */
const WORK_BYTES = 1024 * 1024;
const PUBLISH_BYTES = 4 * 1024 * 1024;
const PUBLISH_MESSAGES = 4_000;
/** Leaves room for the envelope in the largest message that the topics accept. */
const DATA_BYTES_MAX = topics.delivery.message_limit_bytes - 64 * 1024;

/** Field names come from outside: any other reason would be unbounded as a metric label. */
const KNOWN_REASONS = new Set(['no_event', 'unknown_status', 'played', 'value_errors', 'empty']);

/** State that outlives a batch. */
interface Lasting {
  envelope: Envelope;
  activity: Activity;
}

/** Returns the handler of the topics of webhooks. */
export function createFanOut(
  deps: FanOutDependencies,
): (batch: Received<UpstreamWebhook>[]) => Promise<void> {
  const lasting = { envelope: createEnvelope(deps.public_url), activity: createActivity() };
  return async (batch) => {
    for (const portion of portionsOf(batch)) await fanOut(deps, lasting, portion);
  };
}

async function fanOut(
  deps: FanOutDependencies,
  lasting: Lasting,
  batch: Received<UpstreamWebhook>[],
): Promise<void> {
  const read = await Promise.all(batch.map((received) => readWebhook(received, deps)));
  const webhooks = read.filter((one) => one !== undefined);
  const [first] = webhooks;
  if (!first) return;
  const events = webhooks.flatMap(({ normalised }) => normalised.events);
  const span = first.span.spanContext();
  await deps.categoryCosts.add(events, span);
  const results = resultsOf(webhooks);
  // Both read Redis: together they wait for it once.
  const [answers] = await Promise.all([
    deps.owners.of(results, span),
    deps.memory.complete(
      events,
      webhooks.flatMap(({ normalised }) => normalised.state),
    ),
  ]);
  const owners = answers.filter((_answer, index) => isPublished(results[index]));
  const addressed = itemsOf(webhooks).map((item, index): Addressed => {
    return { item, owner: owners[index] as GetOwnersResponse };
  });
  const wanted = await deps.wishes.filter(addressed, span);
  await publishAll(deps.bus, wanted, lasting);
  for (const webhook of webhooks) await report(deps, webhook);
}

/** Publishes in order, each portion only once Kafka has the one before. */
async function publishAll(
  bus: Bus,
  addressed: Addressed[],
  { envelope, activity }: Lasting,
): Promise<void> {
  let portion: Outgoing<unknown>[] = [];
  let bytes = 0;
  const records = createStateRecords(activity, Date.now());
  const flush = async (): Promise<void> => {
    await bus.publish([...records.take(), ...portion]);
    records.published();
    portion = [];
    bytes = 0;
  };
  for (const { item, owner } of addressed) {
    if (owner.partner_ids.length === 0) {
      const field = 'event' in item ? item.event : item.kind;
      metrics.webhook_items_ignored.inc({ field, reason: 'not_registered' });
      continue;
    }
    const data = dataOf(item);
    const data_bytes = Buffer.byteLength(data);
    if (data_bytes > DATA_BYTES_MAX) {
      await bus.deadLetter(topics.webhook, Buffer.from(data, 'utf8'), 'too_large');
      continue;
    }
    for (const message of outgoingOf(item, owner, data, { records, envelope })) {
      portion.push(message);
      bytes += data_bytes;
      if (bytes > PUBLISH_BYTES || portion.length >= PUBLISH_MESSAGES) await flush();
    }
  }
  await flush();
}

/** Counts and logs a webhook's results; unreadable items go to the dead letters. */
async function report(
  { bus, log }: FanOutDependencies,
  { normalised, webhook, span, published }: ReadWebhook,
): Promise<void> {
  const ignored = [...normalised.ignored.values()];
  for (const { field, reason, count } of ignored) {
    const label = KNOWN_REASONS.has(reason) ? field : 'unknown';
    metrics.webhook_items_ignored.inc({ field: label, reason }, count);
  }
  for (const { field, reason, item } of normalised.unreadable) {
    const bytes = Buffer.from(stringifyData({ field, reason, item }, true), 'utf8');
    await bus.deadLetter(topics.webhook, bytes, reason);
  }
  log.info(
    {
      events: normalised.events.length,
      ignored,
      unreadable: normalised.unreadable.length,
      published,
      lag_ms: Date.now() - webhook.received_at_ms,
      ...traceIds(span.spanContext()),
    },
    'fan-out',
  );
  endSpan(span);
}

function* portionsOf(batch: Received<UpstreamWebhook>[]): Generator<Received<UpstreamWebhook>[]> {
  let portion: Received<UpstreamWebhook>[] = [];
  let bytes = 0;
  for (const received of batch) {
    portion.push(received);
    bytes += received.message.body.length;
    if (bytes <= WORK_BYTES) continue;
    yield portion;
    portion = [];
    bytes = 0;
  }
  if (portion.length > 0) yield portion;
}
