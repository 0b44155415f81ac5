import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import * as docs from '../docs/rows/profile';
import * as schemas from '../schemas/profile';
import { nodeUnder } from './diagnostics';
import { get, put, rpc } from './endpoint';

export const profile = [
  get('/profile', rpc(NumberAdminDefinition, 'getProfile'), {
    scope: 'number',
    reply: nodeUnder('profile'),
    docs: docs.getProfile,
    summary: 'Read the number’s business profile',
  }),
  put('/profile', rpc(NumberAdminDefinition, 'updateProfile'), {
    scope: 'number',
    body: schemas.updateProfile,
    request: ({ body, target }) => ({ profile: body, target }),
    docs: docs.updateProfile,
    summary: 'Change the number’s business profile; what is left out stays',
  }),
];
