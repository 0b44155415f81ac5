import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import * as docs from './docs';
import * as schemas from './schemas';
import { nodeUnder } from '../diagnostics/rows';
import { get, put, rpc } from '../endpoint';

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
