import { object, text } from '../parts/inputs';
import { otherNumber } from '../number-setup/schemas';
import type { Schema } from '../parts/schema';

const CODE_MAX = 64;
const LANGUAGE_MAX = 20;

/** Irreversible: nothing but `true` itself confirms. */
export const confirm: Schema = {
  const: true,
  errorCode: 'CONFIRMATION_REQUIRED',
  errorMessage: 'this cannot be undone: send confirm: true',
  description: 'must be true: this cannot be undone',
};

const pin: Schema = {
  type: 'string',
  pattern: '^[0-9]{6}$',
  errorMessage: 'must be a text of exactly 6 digits',
  description: 'exactly 6 digits',
};

export const requestCode = object(
  {
    code_method: { type: 'string', enum: ['SMS', 'VOICE'] },
    language: text(LANGUAGE_MAX, 'language code such as en_US'),
    ...otherNumber,
  },
  ['code_method', 'language'],
);

export const verifyCode = object({ code: text(CODE_MAX, 'the code received'), ...otherNumber }, [
  'code',
]);

export const twoStep = object({ pin, ...otherNumber }, ['pin']);

export const registerPhone = object({ pin, ...otherNumber });

export const deregisterPhone = object({ confirm, ...otherNumber }, ['confirm']);
