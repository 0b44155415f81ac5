import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import * as docs from './docs';
import * as schemas from './schemas';
import { get, put, rpc, type Endpoint } from '../endpoint';
import { nodeUnder } from '../parts/rows';

export const profile: Endpoint[] = [
  get('/profile', rpc(NumberAdminDefinition, 'getProfile'), {
    scope: 'number',
    reply: nodeUnder('profile'),
    docs: docs.getProfile,
    summary: 'Retrieve the business profile of a number',
  }),
  put('/profile', rpc(NumberAdminDefinition, 'updateProfile'), {
    scope: 'number',
    body: schemas.updateProfile,
    request: ({ body, target }) => ({ profile: body, target }),
    docs: docs.updateProfile,
    summary: 'Update the business profile of a number',
  }),
];
