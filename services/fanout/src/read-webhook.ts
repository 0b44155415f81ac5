// The first step of the fan-out: parses and normalises one raw webhook. A body that cannot be
// parsed goes to the dead letters.
import { topics, type Bus, type Received } from '@bmg/common/bus';
import { RECONCILED } from '@bmg/common/messages';
import {
  endSpan,
  SpanKind,
  startSpan,
  traceIds,
  type Logger,
  type Span,
} from '@bmg/common/telemetry';
import { parseUpstream } from '@bmg/common/upstream-webhook';
import type { GetOwnersResponse } from '@bmg/proto/onboarding';
import type { UpstreamWebhook } from '@bmg/proto/stream';
import { normalise, type Normalised, type NormalisedEvent, type StateChange } from './normalise';

export interface ReadWebhook {
  webhook: UpstreamWebhook;
  /** Its way through Kafka. */
  times: { published_at_ms: number | undefined; read_at_ms: number | undefined };
  normalised: Normalised;
  /** The body has numbers beyond 2^53, so its data needs the exact serialiser. */
  lossless: boolean;
  span: Span;
  /** Kafka messages published for it so far. */
  published: number;
}

/** An event or a state change, with the webhook that it is from. */
export type Item = (NormalisedEvent | StateChange) & { from: ReadWebhook };

/** An item with the partners that own its number or account. */
export interface Addressed {
  item: Item;
  owner: GetOwnersResponse;
}

/** Undefined for a body that is not JSON or is nested too deep. */
export async function readWebhook(
  { message, span: parent, published_at_ms, read_at_ms }: Received<UpstreamWebhook>,
  { bus, log }: { bus: Bus; log: Logger },
): Promise<ReadWebhook | undefined> {
  const span = startSpan('normalise', { kind: SpanKind.CONSUMER, parent });
  const bytes = Buffer.from(message.body);
  try {
    const { body, lossless } = parseUpstream(bytes);
    const normalised = normalise(body, Math.floor(message.received_at_ms / 1_000));
    if (message.reconciled) {
      for (const { data } of normalised.events) data['source'] = RECONCILED;
    }
    const times = { published_at_ms, read_at_ms };
    return { webhook: message, times, normalised, lossless, span, published: 0 };
  } catch (error) {
    const reason = error instanceof RangeError ? 'nested_too_deep' : 'not_json';
    await bus.deadLetter(topics.webhook, bytes, reason);
    log.warn(
      { reason, bytes: bytes.length, ...traceIds(span.spanContext()) },
      'failed to read webhook',
    );
    endSpan(span, { code: reason });
    return undefined;
  }
}

type Result = NormalisedEvent | StateChange;

/** The results of these webhooks, in the order of the bodies. */
export const resultsOf = (webhooks: ReadWebhook[]): Result[] =>
  webhooks.flatMap(({ normalised }): Result[] => [...normalised.events, ...normalised.state]);

/** False for a status that another source has reported before. */
export const isPublished = (result: Result | undefined): boolean =>
  result !== undefined && !('duplicate' in result && result.duplicate);

/** The results to publish for these webhooks, in the same order. */
export const itemsOf = (webhooks: ReadWebhook[]): Item[] =>
  webhooks.flatMap((from) =>
    resultsOf([from])
      .filter(isPublished)
      .map((result): Item => ({ ...result, from })),
  );
