import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import * as docs from './docs';
import * as schemas from './schemas';
import { get, rpc, type Endpoint } from '../endpoint';
import { nodeAndTop, uncounted, wholeUnder } from '../parts/rows';

export const diagnostics: Endpoint[] = [
  get('/waba', rpc(NumberAdminDefinition, 'getWaba'), {
    ...uncounted,
    reply: nodeAndTop('waba', docs.waba),
    docs: docs.getWaba,
    summary: 'Retrieve the details and health of a business account',
  }),
  get('/waba/activities', rpc(NumberAdminDefinition, 'listActivities'), {
    ...uncounted,
    query: schemas.listActivities,
    reply: wholeUnder('activities'),
    docs: docs.listActivities,
    summary: 'List the activity log of a business account',
  }),
  get('/waba/assigned-users', rpc(NumberAdminDefinition, 'listAssignedUsers'), {
    ...uncounted,
    query: schemas.listAssignedUsers,
    reply: wholeUnder('assigned_users'),
    docs: docs.listAssignedUsers,
    summary: 'List the users with access to a business account',
  }),
  get('/waba/solutions', rpc(NumberAdminDefinition, 'listSolutions'), {
    ...uncounted,
    reply: wholeUnder('solutions'),
    docs: docs.listSolutions,
    summary: 'List the solutions attached to a business account',
  }),
  get('/schedules', rpc(NumberAdminDefinition, 'listSchedules'), {
    ...uncounted,
    reply: wholeUnder('schedules'),
    docs: docs.listSchedules,
    summary: 'List scheduled changes of a business account',
  }),
  get('/flows', rpc(NumberAdminDefinition, 'listFlows'), {
    ...uncounted,
    reply: wholeUnder('flows'),
    docs: docs.listFlows,
    summary: 'List the flows of a business account',
  }),
  get('/flows/:flow_id', rpc(NumberAdminDefinition, 'getFlow'), {
    ...uncounted,
    reply: nodeAndTop('flow', docs.flowDetails),
    docs: docs.getFlow,
    summary: 'Retrieve a flow with its validation errors and health',
  }),
];
