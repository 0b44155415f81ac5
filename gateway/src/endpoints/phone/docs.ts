import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

/** Most of these have nothing to say but success. */
const outcome = is.record(
  { phone: is.node({}, { description: 'what the upstream says beside its success, if anything' }) },
  { optional: ['phone'] },
);

export const requestCode: RowDocs = {
  answer: outcome,
  example: { code_method: 'SMS', language: 'en_US' },
  notes: 'Never in a retry loop: repeated requests block the number from requesting more codes.',
};

export const verifyCode: RowDocs = { answer: outcome, example: { code: '123456' } };

export const setTwoStepPin: RowDocs = {
  answer: is.record({
    pin_stored: is.flag(true, 'whether it is kept for a later registration'),
  }),
  example: { pin: '246810' },
  codes: ['SERVICE_UNAVAILABLE'],
};

export const registerPhone: RowDocs = {
  answer: outcome,
  example: { pin: '246810' },
  notes: 'One attempt with the PIN given, else the stored one of that number, else the platform’s.',
};

export const deregisterPhone: RowDocs = {
  answer: outcome,
  example: { confirm: true },
  codes: ['CONFIRMATION_REQUIRED'],
  notes: 'Not to be repeated by a generic wrapper.',
};
