// Builds the webhook of a customer's message, a message from the business app or a standby copy,
// with defaults for every field that the caller leaves out.
import type { Core } from './core';
import { derivedBsuid, digitsOf, isBsuid } from './ids';
import { generatedHash } from './media-store';
import { addMedia, mediaUrl } from './operations/media';
import { isObject } from './operations/parameters';
import { metadataOf, seconds } from './statuses';
import type { BusinessNumber, Customer, JsonObject, Media } from './types';
import { words } from '../testkit/words';

export interface InboundInput extends JsonObject {
  phone_number_id: string;
  /** The customer's phone number; without it and `bsuid`, the seeded customer writes. */
  from?: string;
  bsuid?: string;
  parent_bsuid?: string;
  name?: string;
  username?: string;
  /** Includes only the business-scoped ID, as for a customer who hides the phone number. */
  hide_phone?: boolean;
  type?: string;
  text?: string | JsonObject;
  message_id?: string;
  timestamp?: string | number;
  field?: 'messages' | 'smb_message_echoes' | 'standby';
  /** False: a refused webhook is not retried. */
  retry?: boolean;
  /** Post even when the account is not subscribed. */
  force?: boolean;
}

/** Keys for the emulator; every other key becomes part of the message. */
const CONTROL_KEYS = words(`
  phone_number_id from bsuid parent_bsuid name username hide_phone type text message_id timestamp
  field retry force
`);
const SEEDED_CUSTOMER = '15550100777';
const INBOUND_MEDIA_LIFETIME_MS = 7 * 24 * 3600 * 1000;
const SAMPLE_BYTES = 2048;
const SAMPLE_TYPES: Readonly<Record<string, string>> = {
  image: 'image/jpeg',
  video: 'video/mp4',
  audio: 'audio/ogg; codecs=opus',
  document: 'application/pdf',
  sticker: 'image/webp',
};

export interface Inbound {
  message_id: string;
  customer: Customer;
  change: JsonObject;
}

export function buildInbound(core: Core, number: BusinessNumber, input: InboundInput): Inbound {
  const customer = customerOf(core, number, input);
  const message_id = input.message_id ?? core.ids.message();
  const at = input.timestamp !== undefined ? String(input.timestamp) : seconds(Date.now());
  const content = contentOf(core, number, input);
  const field = input.field ?? 'messages';
  const contacts = [contactOf(customer)];
  const frame = { messaging_product: 'whatsapp', metadata: metadataOf(number) };
  if (field === 'smb_message_echoes') {
    const echo = {
      from: digitsOf(number.display_phone_number),
      ...(customer.wa_id ? { to: customer.wa_id } : {}),
      to_user_id: customer.user_id,
      id: message_id,
      timestamp: at,
      ...content,
    };
    return {
      message_id,
      customer,
      change: { field, value: { ...frame, contacts, message_echoes: [echo] } },
    };
  }
  const message = {
    ...(customer.wa_id ? { from: customer.wa_id } : {}),
    from_user_id: customer.user_id,
    ...(customer.parent_user_id ? { from_parent_user_id: customer.parent_user_id } : {}),
    id: message_id,
    timestamp: at,
    ...content,
  };
  // System messages have no contacts.
  const part = {
    ...(content['type'] === 'system' ? {} : { contacts }),
    messages: [message],
  };
  const value = field === 'standby' ? { ...frame, standby: part } : { ...frame, ...part };
  return { message_id, customer, change: { field, value } };
}

function customerOf(core: Core, number: BusinessNumber, input: InboundInput): Customer {
  const portfolio_id = core.state.accountOf(number).portfolio.id;
  const from = input.from === undefined ? undefined : digitsOf(input.from);
  const wa_id = from ?? (input.bsuid === undefined ? SEEDED_CUSTOMER : null);
  const known = wa_id
    ? core.state.customerByPhone(portfolio_id, wa_id)
    : core.state.customerById(portfolio_id, input.bsuid as string);
  const base = known === 'foreign' ? null : known;
  const user_id =
    input.bsuid ?? base?.user_id ?? derivedBsuid(portfolio_id, wa_id ?? SEEDED_CUSTOMER);
  const customer: Customer = {
    wa_id: wa_id ?? base?.wa_id ?? null,
    user_id,
    parent_user_id: input.parent_bsuid ?? base?.parent_user_id ?? null,
    name: input.name ?? base?.name ?? 'Customer',
    username: input.username ?? base?.username ?? null,
    call_permission: base?.call_permission ?? false,
  };
  if (grantsCall(input)) customer.call_permission = true;
  core.state.saveCustomer(portfolio_id, customer);
  return input.hide_phone === true ? { ...customer, wa_id: null } : customer;
}

function grantsCall(input: InboundInput): boolean {
  const interactive = input['interactive'];
  const reply = isObject(interactive) ? interactive['call_permission_reply'] : undefined;
  return isObject(reply) && reply['response'] === 'accept';
}

function contactOf(customer: Customer): JsonObject {
  return {
    profile: {
      name: customer.name,
      ...(customer.username ? { username: customer.username } : {}),
    },
    ...(customer.wa_id ? { wa_id: customer.wa_id } : {}),
    user_id: customer.user_id,
    ...(customer.parent_user_id ? { parent_user_id: customer.parent_user_id } : {}),
  };
}

function contentOf(core: Core, number: BusinessNumber, input: InboundInput): JsonObject {
  const type = input.type ?? 'text';
  const content: JsonObject = { type };
  if (type === 'text') {
    const text = input.text ?? 'Hello';
    content['text'] = typeof text === 'string' ? { body: text } : text;
  } else if (input.text !== undefined) {
    content['text'] = input.text;
  }
  for (const [key, value] of Object.entries(input)) {
    if (!CONTROL_KEYS.includes(key)) content[key] = value;
  }
  const mime_type = SAMPLE_TYPES[type];
  if (mime_type) content[type] = mediaContent(core, number, mime_type, content[type]);
  return content;
}

/** A medium without an ID gets one with a few generated bytes, so that it can be downloaded. */
function mediaContent(
  core: Core,
  number: BusinessNumber,
  mime_type: string,
  given: unknown,
): JsonObject {
  const content = isObject(given) ? given : {};
  const known = typeof content['id'] === 'string' ? core.state.media.get(content['id']) : undefined;
  if (content['id'] !== undefined && !known) return content;
  const media = known ?? generatedMedia(core, number, { mime_type, size: SAMPLE_BYTES });
  return {
    mime_type: media.mime_type,
    // The media node returns the hash in hexadecimal, webhooks in base64.
    sha256: Buffer.from(media.sha256, 'hex').toString('base64'),
    id: media.id,
    url: mediaUrl(core, media),
    ...content,
  };
}

export function generatedMedia(
  core: Core,
  number: BusinessNumber,
  { mime_type, size, filename }: { mime_type: string; size: number; filename?: string | null },
): Media {
  return addMedia(core, number, {
    mime_type,
    size,
    sha256: generatedHash(size),
    filename: filename ?? null,
    path: null,
    lifetime_ms: INBOUND_MEDIA_LIFETIME_MS,
  });
}

export function isBlocked(
  number: BusinessNumber,
  customer: { wa_id?: string | null; user_id?: string | null },
): boolean {
  for (const { wa_id, user_id } of number.blocked.values()) {
    if (wa_id !== undefined && wa_id === customer.wa_id) return true;
    if (user_id !== undefined && user_id === customer.user_id) return true;
  }
  return false;
}

export function isCustomerId(value: string): boolean {
  return isBsuid(value) || /^\+?\d+$/.test(value);
}
