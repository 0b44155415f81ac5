import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const outcome = is.outcome('phone');

export const requestCode: RowDocs = {
  answer: outcome,
  example: { code_method: 'SMS', language: 'en_US' },
  notes:
    'Do not call this endpoint in a retry loop: repeated requests block the number from requesting further codes.',
};

export const verifyCode: RowDocs = {
  answer: outcome,
  example: { code: '123456' },
  notes: 'Send the code that the number has received.',
};

export const setTwoStepPin: RowDocs = {
  answer: is.record({
    pin_stored: is.flag(true, 'Whether the PIN was stored for a later registration.'),
  }),
  example: { pin: '246810' },
  codes: ['SERVICE_UNAVAILABLE'],
  notes:
    'The PIN is stored, encrypted, only for the client’s own number. `POST /phone/register` uses the stored PIN.',
};

export const registerPhone: RowDocs = {
  answer: outcome,
  example: { pin: '246810' },
  codes: ['MISSING_FIELDS'],
  notes:
    'Makes one attempt with the `pin` of the request, otherwise with the stored PIN of the number, otherwise, if the number is registered, with the PIN of the platform.',
};

export const deregisterPhone: RowDocs = {
  answer: outcome,
  example: { confirm: true },
  codes: ['CONFIRMATION_REQUIRED'],
  notes: 'The number stops receiving messages at once. Do not retry this request automatically.',
};
