// Webhooks in the upstream's format, their signature, and posts straight to the ingress.
import { createHmac } from 'node:crypto';
import type { SeededNumber } from './rest';

export type Numbered = Pick<SeededNumber, 'waba_id' | 'phone_number_id'>;

const APP_SECRET = 'app-secret-local';

/** One time for all messages and statuses, because what is posted again must be the same. */
const timestamp = String(Math.floor(Date.now() / 1_000));

export interface InboundText {
  from: string;
  id: string;
  text?: string;
}

/** One webhook change with messages from customers to the number. */
export const messagesChange = (number: Numbered, messages: InboundText[]) => ({
  field: 'messages',
  value: {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550100001', phone_number_id: number.phone_number_id },
    contacts: messages.map(({ from }) => ({ wa_id: from, profile: { name: 'A customer' } })),
    messages: messages.map(({ from, id, text = 'Hello' }) => ({
      from,
      id,
      timestamp,
      type: 'text',
      text: { body: text },
    })),
  },
});

export const statusChange = (
  number: Numbered,
  id: string,
  status: string,
  given: Record<string, unknown> = {},
) => ({
  field: 'messages',
  value: {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550100001', phone_number_id: number.phone_number_id },
    statuses: [{ id, status, timestamp, recipient_id: '15550100777', ...given }],
  },
});

export const bodyOf = (number: Numbered, changes: unknown[]): string =>
  JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: number.waba_id, changes }],
  });

export const inboundBody = (number: Numbered, ...messages: InboundText[]): string =>
  bodyOf(number, [messagesChange(number, messages)]);

export const signed = (body: string | Buffer): Record<string, string> => ({
  'content-type': 'application/json',
  'x-hub-signature-256': `sha256=${createHmac('sha256', APP_SECRET).update(body).digest('hex')}`,
});

/** Posts once and returns the status, or 0 if there was no answer. */
export async function postRaw(
  ingress_url: string,
  body: string | Buffer,
  headers: Record<string, string> = signed(body),
): Promise<number> {
  try {
    const answer = await fetch(ingress_url, {
      method: 'POST',
      headers,
      body: body as string | Uint8Array<ArrayBuffer>,
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}
