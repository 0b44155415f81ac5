import { id, limit, object } from '../parts/inputs';
import type { Schema } from '../parts/schema';

/** Limits: the activity log. */
const ACTIVITIES_MAX = 200;

const epoch = (description: string): Schema => ({ type: 'integer', minimum: 0, description });

export const listActivities = object({
  limit: limit(undefined, ACTIVITIES_MAX),
  since: epoch('epoch seconds'),
  until: epoch('epoch seconds'),
});

export const listAssignedUsers = object({
  business_id: id('the business whose users are meant; by default the account’s owner'),
});
