import { confirm, object, otherNumber, text } from '../parts/inputs';
import type { Typed } from '../parts/schema';

const CODE_MAX = 64;
const LANGUAGE_MAX = 20;

const pin: Typed<'string'> = {
  type: 'string',
  pattern: '^[0-9]{6}$',
  errorMessage: 'must be a string of exactly 6 digits',
  description: 'Two-step verification PIN: exactly 6 digits.',
};

export const requestCode = object(
  {
    code_method: {
      type: 'string',
      enum: ['SMS', 'VOICE'],
      description: 'How the code is delivered.',
    },
    language: text(LANGUAGE_MAX, 'Language of the code message, for example `en_US`.'),
    ...otherNumber,
  },
  ['code_method', 'language'],
);

export const verifyCode = object(
  { code: text(CODE_MAX, 'Verification code the number received.'), ...otherNumber },
  ['code'],
);

export const twoStep = object({ pin, ...otherNumber }, ['pin']);

export const registerPhone = object({ pin, ...otherNumber });

export const deregisterPhone = object({ confirm, ...otherNumber }, ['confirm']);
