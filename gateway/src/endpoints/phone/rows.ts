import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import * as docs from './docs';
import * as schemas from './schemas';
import { outcomeUnder, uncounted } from '../diagnostics/rows';
import { post, rpc } from '../endpoint';

export const phone = [
  post('/phone/request-code', rpc(NumberAdminDefinition, 'requestCode'), {
    ...uncounted,
    body: schemas.requestCode,
    reply: outcomeUnder('phone'),
    docs: docs.requestCode,
    summary: 'Request a verification code by SMS or voice; never in a retry loop',
  }),
  post('/phone/verify-code', rpc(NumberAdminDefinition, 'verifyCode'), {
    ...uncounted,
    body: schemas.verifyCode,
    reply: outcomeUnder('phone'),
    docs: docs.verifyCode,
    summary: 'Verify the number with the code received',
  }),
  post('/phone/two-step', rpc(NumberAdminDefinition, 'setTwoStepPin'), {
    ...uncounted,
    body: schemas.twoStep,
    docs: docs.setTwoStepPin,
    summary: 'Set the two-step PIN; that of the client’s own number is kept for registration',
  }),
  post('/phone/register', rpc(NumberAdminDefinition, 'registerPhone'), {
    ...uncounted,
    body: schemas.registerPhone,
    reply: outcomeUnder('phone'),
    docs: docs.registerPhone,
    summary: 'Bring a number online with the PIN given, the stored one or the platform’s',
  }),
  post('/phone/deregister', rpc(NumberAdminDefinition, 'deregisterPhone'), {
    ...uncounted,
    body: schemas.deregisterPhone,
    // The confirmation ends here: it is no part of what is asked.
    request: ({ body, target }) => ({ phone_number_id: body['phone_number_id'], target }),
    reply: outcomeUnder('phone'),
    docs: docs.deregisterPhone,
    summary: 'Take a number offline; it stops receiving messages at once',
  }),
];
