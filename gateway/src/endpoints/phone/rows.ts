import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { post, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { choice, confirm, object, otherNumber, text } from '../parts/inputs';
import { outcomeUnder, uncounted } from '../parts/rows';
import type { Typed } from '../parts/schema';

const outcome = outcomeUnder('phone');

const CODE_MAX = 64;
const LANGUAGE_MAX = 20;

const pin: Typed<'string'> = {
  type: 'string',
  pattern: '^[0-9]{6}$',
  errorMessage: 'must be a string of exactly 6 digits',
  description: 'Two-step verification PIN: exactly 6 digits.',
};

/** The body may name another number of the account. Codes and PINs are not kept. */
const audit = { ids: { phone_number_id: 'phone_number_id' } };

export const phone: Endpoint[] = [
  post('/phone/request-code', rpc(NumberAdminDefinition, 'requestCode'), {
    ...uncounted,
    audit,
    body: object(
      {
        code_method: choice(['SMS', 'VOICE'], 'How the code is delivered.'),
        language: text(LANGUAGE_MAX, 'Language of the code message, for example `en_US`.'),
        ...otherNumber,
      },
      ['code_method', 'language'],
    ),
    summary: 'Request a verification code by SMS or voice call',
    ...outcome,
    example: { code_method: 'SMS', language: 'en_US' },
    notes:
      'Do not call this endpoint in a retry loop: repeated requests block the number from requesting further codes.',
  }),
  post('/phone/verify-code', rpc(NumberAdminDefinition, 'verifyCode'), {
    ...uncounted,
    audit,
    body: object(
      { code: text(CODE_MAX, 'Verification code the number received.'), ...otherNumber },
      ['code'],
    ),
    summary: 'Verify a number with the code it received',
    ...outcome,
    example: { code: '123456' },
    notes: 'Send the code that the number has received.',
  }),
  post('/phone/two-step', rpc(NumberAdminDefinition, 'setTwoStepPin'), {
    ...uncounted,
    audit,
    body: object({ pin, ...otherNumber }, ['pin']),
    summary: 'Set the two-step verification PIN of a number',
    answer: is.record({
      pin_stored: is.flag(true, 'Whether the PIN was stored for a later registration.'),
    }),
    example: { pin: '246810' },
    codes: ['SERVICE_UNAVAILABLE'],
    notes:
      'The PIN is stored, encrypted, only for the client’s own number. `POST /phone/register` uses the stored PIN.',
  }),
  post('/phone/register', rpc(NumberAdminDefinition, 'registerPhone'), {
    ...uncounted,
    audit,
    body: object({ pin, ...otherNumber }),
    summary: 'Register a number to bring it online',
    ...outcome,
    example: { pin: '246810' },
    codes: ['MISSING_FIELDS'],
    notes:
      'Makes one attempt with the `pin` of the request, otherwise with the stored PIN of the number, otherwise, if the number is registered, with the PIN of the platform.',
  }),
  post('/phone/deregister', rpc(NumberAdminDefinition, 'deregisterPhone'), {
    ...uncounted,
    audit,
    body: object({ confirm, ...otherNumber }, ['confirm']),
    // `confirm` is checked here and is not part of the call.
    request: ({ body, target }) => ({ phone_number_id: body.phone_number_id, target }),
    summary: 'Deregister a number to take it offline',
    ...outcome,
    example: { confirm: true },
    codes: ['CONFIRMATION_REQUIRED'],
    notes: 'The number stops receiving messages at once. Do not retry this request automatically.',
  }),
];
