// Reads and checks the recipient of a send or a call: a phone number or a business-scoped ID.
import type { Call } from '../core';
import { upstreamError } from '../errors';
import { digitsOf, isBsuid } from '../ids';
import type { BusinessNumber } from '../types';

const PHONE_DIGITS_MIN = 7;
const PHONE_DIGITS_MAX = 15;

export interface Recipient {
  to: string | null;
  recipient: string | null;
  wa_id: string | null;
  user_id: string | null;
}

export function recipientOf({ body }: Call, number: BusinessNumber): Recipient {
  if (body['recipient_type'] !== undefined && body['recipient_type'] !== 'individual') {
    throw upstreamError(131009, 'recipient_type must be individual');
  }
  const to = textOf(body['to'], 'to');
  const recipient = textOf(body['recipient'], 'recipient');
  if (to !== null) {
    const wa_id = phoneOf(to);
    if (wa_id === digitsOf(number.display_phone_number)) throw upstreamError(131021);
    return { to, recipient, wa_id, user_id: null };
  }
  if (recipient === null) {
    throw upstreamError(100, 'The parameter to is required.');
  }
  if (!isBsuid(recipient)) {
    throw upstreamError(131009, 'recipient is not a business-scoped user id');
  }
  return { to, recipient, wa_id: null, user_id: recipient };
}

function textOf(value: unknown, name: string): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string') throw upstreamError(131009, `${name} must be a string`);
  return value;
}

function phoneOf(to: string): string {
  // The platform reads a business-scoped id in `to` as a phone number that does not exist.
  if (/[A-Za-z]/.test(to)) {
    throw upstreamError(131026, 'The recipient is not a phone number on the platform');
  }
  const digits = digitsOf(to);
  if (digits.length < PHONE_DIGITS_MIN || digits.length > PHONE_DIGITS_MAX) {
    throw upstreamError(131009, 'to is not a valid phone number');
  }
  return digits;
}
