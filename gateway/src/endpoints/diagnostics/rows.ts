import type { Node, NodeList } from '@bmg/proto/common';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import * as docs from './docs';
import * as schemas from './schemas';
import { get, rpc, type Fields } from '../endpoint';

/** Account, number setup and phone lifecycle came together: logged, not counted by the rate limit. */
export const uncounted = { scope: 'number', counted: false } as const;

/** An upstream object under the name of its resource. */
export const nodeUnder =
  (name: string) =>
  ({ fields }: Node): Fields => ({ [name]: fields ?? {} });

/** The same for an answer that often has nothing to say but success. */
export const outcomeUnder =
  (name: string) =>
  ({ fields }: Node): Fields =>
    fields && Object.keys(fields).length > 0 ? { [name]: fields } : {};

/** A list that the caller does not page. What the service did not follow to its end says so. */
const wholeUnder =
  (name: string) =>
  ({ items, after, limit }: NodeList): Fields => ({
    [name]: items,
    ...(limit !== undefined && { limit }),
    ...(after !== undefined && { truncated: true }),
  });

/** A list with the upstream's cursors, and the limit that was used. */
export const pageUnder =
  (name: string) =>
  ({ items, before, after, limit }: NodeList): Fields => ({
    [name]: items,
    paging: { cursors: { before: before ?? null, after: after ?? null } },
    ...(limit !== undefined && { limit }),
  });

export const diagnostics = [
  get('/waba', rpc(NumberAdminDefinition, 'getWaba'), {
    ...uncounted,
    reply: nodeUnder('waba'),
    docs: docs.getWaba,
    summary: 'Read the business account’s details and health',
  }),
  get('/waba/activities', rpc(NumberAdminDefinition, 'listActivities'), {
    ...uncounted,
    query: schemas.listActivities,
    reply: wholeUnder('activities'),
    docs: docs.listActivities,
    summary: 'Read the business account’s audit log',
  }),
  get('/waba/assigned-users', rpc(NumberAdminDefinition, 'listAssignedUsers'), {
    ...uncounted,
    query: schemas.listAssignedUsers,
    reply: wholeUnder('assigned_users'),
    docs: docs.listAssignedUsers,
    summary: 'List the business users with access to the account and their tasks',
  }),
  get('/waba/solutions', rpc(NumberAdminDefinition, 'listSolutions'), {
    ...uncounted,
    reply: wholeUnder('solutions'),
    docs: docs.listSolutions,
    summary: 'List the solutions attached to the account',
  }),
  get('/schedules', rpc(NumberAdminDefinition, 'listSchedules'), {
    ...uncounted,
    reply: wholeUnder('schedules'),
    docs: docs.listSchedules,
    summary: 'List pending scheduled changes, such as one of the messaging limit',
  }),
  get('/flows', rpc(NumberAdminDefinition, 'listFlows'), {
    ...uncounted,
    reply: wholeUnder('flows'),
    docs: docs.listFlows,
    summary: 'List the account’s flows',
  }),
  get('/flows/:flow_id', rpc(NumberAdminDefinition, 'getFlow'), {
    ...uncounted,
    reply: nodeUnder('flow'),
    docs: docs.getFlow,
    summary: 'Read one flow with its validation errors and health',
  }),
];
