// Verifies an event that was posted to a webhook URL.
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
  const texts = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
  let failure: unknown = new Error('no webhook secret is given');
  for (const secret of secrets) {
    try {
      return new Webhook(secret).verify(body, texts) as Envelope;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
