// Raw webhook → events → one delivery for each partner that owns the number, in one batch.
import { topics, type Bus, type Outgoing, type Received } from '@bmg/common/bus';
import { contentId } from '@bmg/common/ids';
import {
  endSpan,
  metrics,
  SpanKind,
  startSpan,
  traceIds,
  type Logger,
  type Span,
} from '@bmg/common/telemetry';
import type { GetOwnersResponse } from '@bmg/proto/onboarding';
import type { Delivery, Event, UpstreamWebhook } from '@bmg/proto/stream';
import { createEnvelope } from './envelope';
import type { Memory } from './memory';
import {
  normalise,
  parseUpstream,
  stringifyData,
  type Normalised,
  type NormalisedEvent,
  type StateChange,
} from './normalise';
import type { Owners } from './owners';

export interface FanOutDependencies {
  bus: Bus;
  owners: Owners;
  memory: Memory;
  public_url: string;
  log: Logger;
}

interface Read {
  webhook: UpstreamWebhook;
  normalised: Normalised;
  lossless: boolean;
  span: Span;
  /** Messages made of it. */
  published: number;
}

type Item = (NormalisedEvent | StateChange) & { read: Read };

/**
 * Webhooks are worked on in portions of about this many bytes, and what they become is published in portions
 * too: a body of 3 MB for fifty partners must not be in memory fifty times.
 */
const WORK_BYTES = 1024 * 1024;
const PUBLISH_BYTES = 4 * 1024 * 1024;
const PUBLISH_MESSAGES = 4_000;
/** What leaves room for the envelope in the largest message of the topics. */
const DATA_BYTES_MAX = topics.delivery.message_limit_bytes - 64 * 1024;

/** Field names come from outside: only these may become a label. */
const KNOWN_REASONS = new Set(['no_event', 'unknown_status', 'played', 'value_errors', 'empty']);

export function createFanOut(
  deps: FanOutDependencies,
): (batch: Received<UpstreamWebhook>[]) => Promise<void> {
  const { bus, owners, memory, log } = deps;
  const envelope = createEnvelope(deps.public_url);

  const read = async ({
    message,
    span: parent,
  }: Received<UpstreamWebhook>): Promise<Read | undefined> => {
    const span = startSpan('normalise', { kind: SpanKind.CONSUMER, parent });
    const bytes = Buffer.from(message.body);
    try {
      const { body, lossless } = parseUpstream(bytes);
      const normalised = normalise(body, Math.floor(message.received_at_ms / 1_000));
      return { webhook: message, normalised, lossless, span, published: 0 };
    } catch (error) {
      const reason = error instanceof RangeError ? 'nested_too_deep' : 'not_json';
      await bus.deadLetter(topics.upstreamWebhook, bytes, reason);
      log.warn(
        { reason, bytes: bytes.length, ...traceIds(span.spanContext()) },
        'unreadable webhook',
      );
      endSpan(span, { code: reason });
      return undefined;
    }
  };

  return async (batch) => {
    for (const portion of portionsOf(batch)) await fanOut(portion);
  };

  async function fanOut(batch: Received<UpstreamWebhook>[]): Promise<void> {
    const reads = (await Promise.all(batch.map(read))).filter((one) => one !== undefined);
    const [first] = reads;
    if (!first) return;
    const events = reads.flatMap(({ normalised }) => normalised.events);
    await memory.complete(
      events,
      reads.flatMap(({ normalised }) => normalised.state),
    );
    const items = reads.flatMap((one): Item[] => [
      ...one.normalised.events.map((event) => ({ ...event, read: one })),
      ...one.normalised.state
        .filter(({ kind }) => kind !== 'send_status')
        .map((change) => ({ ...change, read: one })),
    ]);
    const told = await owners.of(items, first.span.spanContext());
    const opaque = opaqueOf(reads);
    await publishAll(items, told, opaque);
    for (const one of reads) await account(one);
  }

  /** In order, and the next portion only once Kafka has the one before. */
  async function publishAll(
    items: Item[],
    told: GetOwnersResponse[],
    opaque: Map<string, string>,
  ): Promise<void> {
    let portion: Outgoing<unknown>[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      if (portion.length > 0) await bus.publish(portion);
      portion = [];
      bytes = 0;
    };
    for (const [index, item] of items.entries()) {
      const owner = told[index] as GetOwnersResponse;
      if (owner.partner_ids.length === 0) {
        const field = 'event' in item ? item.event : item.kind;
        metrics.webhook_items_ignored.inc({ field, reason: 'not_registered' });
        continue;
      }
      const data = stringifyData(item.data, item.read.lossless);
      const size = Buffer.byteLength(data);
      if (size > DATA_BYTES_MAX) {
        await bus.deadLetter(topics.upstreamWebhook, Buffer.from(data, 'utf8'), 'too_large');
        continue;
      }
      for (const message of outgoingOf(item, owner, { data, opaque })) {
        portion.push(message);
        bytes += size;
        if (bytes > PUBLISH_BYTES || portion.length >= PUBLISH_MESSAGES) await flush();
      }
    }
    await flush();
  }

  /** The event for our own services, and one delivery for each partner. */
  function* outgoingOf(
    item: Item,
    owner: GetOwnersResponse,
    { data, opaque }: { data: string; opaque: Map<string, string> },
  ): Generator<Outgoing<unknown>> {
    const { read: from } = item;
    const internal = !('event' in item);
    const name = internal ? item.kind : item.event;
    const waba_id = item.waba_id || (owner.waba_id ?? '');
    const phone_number_id = item.phone_number_id ?? owner.phone_number_id ?? null;
    const conversation = `${phone_number_id ?? waba_id}|${item.contact ?? ''}`;
    const span = from.span.spanContext();
    const { received_at_ms } = from.webhook;
    const event: Event = {
      occurrence_id: contentId('occ', item.occurrence),
      event: name,
      internal,
      waba_id,
      phone_number_id: phone_number_id ?? undefined,
      contact: item.contact ?? undefined,
      timestamp: item.timestamp,
      data,
      received_at_ms,
      partner_ids: owner.partner_ids,
      opaque: opaque.get(item.occurrence),
    };
    from.published += 1;
    yield { topic: topics.event, key: conversation, message: event, span };
    if (internal) return;
    metrics.events_normalised.inc({ event: name });
    const enveloped = { event: name, waba_id, phone_number_id, timestamp: item.timestamp, data };
    for (const partner_id of owner.partner_ids) {
      const event_id = contentId('evt', item.occurrence, partner_id);
      const message: Delivery = {
        event_id,
        partner_id,
        event: name,
        waba_id,
        phone_number_id: phone_number_id ?? undefined,
        conversation,
        body: envelope(enveloped, event_id),
        received_at_ms,
      };
      from.published += 1;
      yield { topic: topics.delivery, key: `${partner_id}|${conversation}`, span, message };
    }
  }

  /**
   * What was not sent is counted; what could not be read goes to the dead letters with its reason.
   */
  async function account({ normalised, webhook, span, published }: Read): Promise<void> {
    for (const { field, reason, count } of normalised.ignored) {
      const label = KNOWN_REASONS.has(reason) ? field : 'unknown';
      metrics.webhook_items_ignored.inc({ field: label, reason }, count);
    }
    for (const { field, reason, item } of normalised.unreadable) {
      const bytes = Buffer.from(stringifyData({ field, reason, item }, true), 'utf8');
      await bus.deadLetter(topics.upstreamWebhook, bytes, reason);
    }
    log.info(
      {
        events: normalised.events.length,
        ignored: normalised.ignored.map(({ field, reason, count }) => ({ field, reason, count })),
        unreadable: normalised.unreadable.length,
        published,
        lag_ms: Date.now() - webhook.received_at_ms,
        ...traceIds(span.spanContext()),
      },
      'fan-out',
    );
    endSpan(span);
  }
}

function* portionsOf(batch: Received<UpstreamWebhook>[]): Generator<Received<UpstreamWebhook>[]> {
  let portion: Received<UpstreamWebhook>[] = [];
  let bytes = 0;
  for (const one of batch) {
    portion.push(one);
    bytes += one.message.body.length;
    if (bytes <= WORK_BYTES) continue;
    yield portion;
    portion = [];
    bytes = 0;
  }
  if (portion.length > 0) yield portion;
}

const SEND_PREFIX = 'send_';

/** The callback data of our own sends, by the occurrence of the status that carries it. */
function opaqueOf(reads: Read[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { normalised } of reads) {
    for (const { kind, occurrence, data } of normalised.state) {
      const opaque = data['biz_opaque_callback_data'];
      if (kind === 'send_status' && typeof opaque === 'string') {
        found.set(occurrence.slice(SEND_PREFIX.length), opaque);
      }
    }
  }
  return found;
}
