// Verifies an event that was posted to a webhook URL.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { webhooks } from './schema';

/** Every event, told apart by `event`. */
export type Envelope =
  webhooks[keyof webhooks]['post']['requestBody']['content']['application/json'];

export interface WebhookRequest {
  headers: Record<string, string | string[] | undefined>;
  /** The exact bytes of the body, before any parser. */
  body: string | Buffer;
  /** The webhook secret; while it is rotated, both. */
  secrets: readonly string[];
}

/** Returns the event. Throws if no secret fits or its time differs by more than 5 minutes. */
export function verifyWebhook({ headers, body, secrets }: WebhookRequest): Envelope {
  const texts = textsOf(headers);
  let failure: unknown = new Error('no webhook secret is given');
  for (const secret of secrets) {
    refuseEmpty(secret);
    try {
      return new Webhook(secret).verify(body, texts) as Envelope;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/**
 * Returns the event; checks `x-service-signature`, which only the newest secret makes. It covers no
 * time: prefer `verifyWebhook`, or call both. Throws if no secret fits.
 */
export function verifyServiceSignature({ headers, body, secrets }: WebhookRequest): Envelope {
  const given = Buffer.from(textsOf(headers)['x-service-signature'] ?? '');
  for (const secret of secrets) {
    refuseEmpty(secret);
    const made = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
    if (made.length === given.length && timingSafeEqual(made, given)) {
      return JSON.parse(body.toString()) as Envelope;
    }
  }
  throw new Error('x-service-signature does not match');
}

const textsOf = (headers: WebhookRequest['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );

/** Every sender can sign with an empty key. */
function refuseEmpty(secret: string): void {
  if (secret === '' || secret === 'whsec_') throw new Error('a webhook secret is empty');
}
