import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import * as docs from './docs';
import * as schemas from './schemas';
import { post, rpc, type Endpoint } from '../endpoint';
import { outcomeUnder, uncounted } from '../parts/rows';

/** The body may name another number of the account. Codes and PINs are not kept. */
const audit = { ids: { phone_number_id: 'phone_number_id' } };

export const phone: Endpoint[] = [
  post('/phone/request-code', rpc(NumberAdminDefinition, 'requestCode'), {
    ...uncounted,
    audit,
    body: schemas.requestCode,
    reply: outcomeUnder('phone'),
    docs: docs.requestCode,
    summary: 'Request a verification code by SMS or voice call',
  }),
  post('/phone/verify-code', rpc(NumberAdminDefinition, 'verifyCode'), {
    ...uncounted,
    audit,
    body: schemas.verifyCode,
    reply: outcomeUnder('phone'),
    docs: docs.verifyCode,
    summary: 'Verify a number with the code it received',
  }),
  post('/phone/two-step', rpc(NumberAdminDefinition, 'setTwoStepPin'), {
    ...uncounted,
    audit,
    body: schemas.twoStep,
    docs: docs.setTwoStepPin,
    summary: 'Set the two-step verification PIN of a number',
  }),
  post('/phone/register', rpc(NumberAdminDefinition, 'registerPhone'), {
    ...uncounted,
    audit,
    body: schemas.registerPhone,
    reply: outcomeUnder('phone'),
    docs: docs.registerPhone,
    summary: 'Register a number to bring it online',
  }),
  post('/phone/deregister', rpc(NumberAdminDefinition, 'deregisterPhone'), {
    ...uncounted,
    audit,
    body: schemas.deregisterPhone,
    // `confirm` is checked here and is not part of the call.
    request: ({ body, target }) => ({ phone_number_id: body.phone_number_id, target }),
    reply: outcomeUnder('phone'),
    docs: docs.deregisterPhone,
    summary: 'Deregister a number to take it offline',
  }),
];
