// The form of e-mail addresses: of people, and of a partner's contacts.
import { domainToASCII } from 'node:url';
import { invalidField, missingFields } from '@bmg/common/errors';

const EMAIL_MAX = 254;
const LOCAL_PART = /^[^\s\p{Cc}@"(),:;<>[\]\\]{1,64}$/u;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/;

/**
 * Returns the address in its normal form: lower case, the domain in ASCII. Throws naming `field`.
 */
export function checkEmail(text: string, field = 'email'): string {
  const email = text.trim().normalize('NFC').toLowerCase();
  if (email === '') throw missingFields([field]);
  const at = email.lastIndexOf('@');
  const [local, domain] = [email.slice(0, Math.max(at, 0)), domainToASCII(email.slice(at + 1))];
  const normal = `${local}@${domain}`;
  if (!LOCAL_PART.test(local) || !DOMAIN.test(domain) || normal.length > EMAIL_MAX) {
    throw invalidField(field, 'must be an e-mail address, for example ada@example.com');
  }
  return normal;
}
