// The forms in which an endpoint gets an event: the envelope as it is, or as a CloudEvent 1.0 in
// the structured or the binary mode of its HTTP binding. The signature covers the bytes that are
// posted.

export interface Posted {
  body: Buffer;
  headers: Record<string, string>;
}

const SPEC_VERSION = '1.0';
const JSON_TYPE = 'application/json';
const STRUCTURED_TYPE = 'application/cloudevents+json; charset=utf-8';
/** In header values of the binary mode: percent-encoded, as the HTTP binding requires. */
const TO_ENCODE = /[^\u0021\u0023\u0024\u0026-\u007e]/gu;

export interface Formatted {
  event_id: string;
  event: string;
  partner_id: string;
  /** The envelope. */
  body: Buffer;
  received_at_ms: number;
}

/** `format` is one that the registry accepts; an unknown one of a newer release is the envelope. */
export function formatted(event: Formatted, format: string): Posted {
  if (format === 'cloudevents-structured') return structured(event);
  if (format === 'cloudevents-binary') return binary(event);
  return { body: event.body, headers: { 'content-type': JSON_TYPE } };
}

/** `data` is the envelope byte by byte, so that the upstream's numbers keep their digits. */
function structured(event: Formatted): Posted {
  const head = JSON.stringify({ ...attributesOf(event), datacontenttype: JSON_TYPE });
  return {
    body: Buffer.concat([
      Buffer.from(`${head.slice(0, -1)},"data":`, 'utf8'),
      event.body,
      Buffer.from('}', 'utf8'),
    ]),
    headers: { 'content-type': STRUCTURED_TYPE },
  };
}

function binary(event: Formatted): Posted {
  const headers: Record<string, string> = { 'content-type': JSON_TYPE };
  for (const [name, value] of Object.entries(attributesOf(event))) {
    headers[`ce-${name}`] = value.replace(TO_ENCODE, encodeURIComponent);
  }
  return { body: event.body, headers };
}

interface Envelope {
  waba_id: string | null;
  phone_number_id: string | null;
  timestamp: number;
}

/** `subject` is the number, and `source` the account, or the partner if there is none. */
function attributesOf({ event_id, event, partner_id, body, received_at_ms }: Formatted) {
  const { waba_id, phone_number_id, timestamp } = JSON.parse(body.toString('utf8')) as Envelope;
  const at_ms = Number.isFinite(timestamp) ? timestamp * 1_000 : received_at_ms;
  return {
    specversion: SPEC_VERSION,
    id: event_id,
    source: waba_id
      ? `/accounts/${encodeURIComponent(waba_id)}`
      : `/partners/${encodeURIComponent(partner_id)}`,
    type: event,
    time: timeOf(at_ms) ?? new Date(received_at_ms).toISOString(),
    ...(phone_number_id && { subject: phone_number_id }),
  };
}

/** Undefined for a time beyond those of RFC 3339, which only a mistake of the upstream has. */
function timeOf(at_ms: number): string | undefined {
  const at = new Date(at_ms);
  const year = Number.isNaN(at.getTime()) ? -1 : at.getUTCFullYear();
  return year >= 0 && year <= 9_999 ? at.toISOString() : undefined;
}
