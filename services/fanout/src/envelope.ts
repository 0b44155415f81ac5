// Builds the envelope of an event (contract 12.1): exactly the bytes that are signed and posted.
import { eventMeta } from '@bmg/common/notices';

export interface Enveloped {
  event: string;
  /** Null for an event that concerns only the partner. */
  waba_id: string | null;
  phone_number_id: string | null;
  timestamp: number;
  /** JSON text, so that the upstream's numbers keep their digits. */
  data: string;
}

/**
 * Returns a function that builds one partner's body. Only the event id differs between partners.
 */
export function createEnvelope(public_url: string): (event: Enveloped, event_id: string) => Buffer {
  const meta = eventMeta(`${public_url}/changelog`);
  return ({ event, waba_id, phone_number_id, timestamp, data }, event_id) => {
    const head = JSON.stringify({ event, waba_id, phone_number_id, timestamp });
    const tail = JSON.stringify({ ...meta, event_id });
    return Buffer.from(`${head.slice(0, -1)},"data":${data},"meta":${tail}}`, 'utf8');
  };
}
