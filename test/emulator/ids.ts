// Generates IDs in the platform's formats. They differ between runs, because a gateway under test
// may still hold the IDs of an emulator that was restarted.
import { createHash, randomBytes } from 'node:crypto';

const QR_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const QR_LENGTH = 14;
const COUNTER_DIGITS = 4;
const COUNTER_MODULUS = 10 ** COUNTER_DIGITS;

const FIRST_DIGIT = { media: '1', template: '3', number: '8', account: '9' };

export class Ids {
  private readonly run = randomBytes(6).toString('hex').toUpperCase();
  private count = 0;
  private numeric_count = 0;

  /** Base64 with `=`, like the platform's IDs. */
  message(): string {
    return `wamid.HBgL${this.next()}`;
  }

  call(): string {
    return `wacid.HBgL${this.next()}`;
  }

  group(): string {
    return Buffer.from(`capi_group:${this.run}${++this.count}`).toString('base64');
  }

  request(): string {
    return `rq-${this.run}-${++this.count}`;
  }

  inviteLink(): string {
    return `https://chat.whatsapp.com/${randomBytes(16).toString('base64url')}`;
  }

  code(): string {
    return `AQ${randomBytes(24).toString('base64url')}`;
  }

  token(): string {
    return `EAA${randomBytes(24).toString('base64url')}`;
  }

  /** Eighteen digits: too large for a JavaScript number, like the platform's IDs. */
  numeric(kind: keyof typeof FIRST_DIGIT): string {
    this.numeric_count = (this.numeric_count + 1) % COUNTER_MODULUS;
    const counter = String(this.numeric_count).padStart(COUNTER_DIGITS, '0');
    return `${FIRST_DIGIT[kind]}${Date.now()}${counter}`;
  }

  qrCode(): string {
    let code = '';
    for (const byte of randomBytes(QR_LENGTH)) code += QR_ALPHABET[byte % QR_ALPHABET.length];
    return code;
  }

  private next(): string {
    this.count += 1;
    return Buffer.from(`${this.run}${this.count.toString(36).padStart(8, '0')}`).toString('base64');
  }
}

const BSUID_LENGTH = 20;

/** A customer's business-scoped ID: stable within a portfolio, different in each portfolio. */
export function derivedBsuid(portfolio_id: string, wa_id: string): string {
  const hash = createHash('sha256').update(`${portfolio_id}:${wa_id}`).digest('hex').toUpperCase();
  return `US.${hash.slice(0, BSUID_LENGTH)}`;
}

const BSUID = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/;
const PARENT_BSUID = /^[A-Z]{2}\.ENT\./;

export function isBsuid(value: string): boolean {
  return BSUID.test(value);
}

export function isParentBsuid(value: string): boolean {
  return PARENT_BSUID.test(value);
}

export function digitsOf(value: string): string {
  return value.replace(/\D/g, '');
}
