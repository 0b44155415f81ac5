import { id, limit, object } from '../parts/inputs';
import type { Typed } from '../parts/schema';

/** Contract 11.2: activity log `limit`. */
const ACTIVITIES_MAX = 200;

/** Epoch seconds in the year 2286. */
const EPOCH_MAX = 9_999_999_999;

const epoch = (description: string): Typed<'integer'> => ({
  type: 'integer',
  minimum: 0,
  maximum: EPOCH_MAX,
  description,
});

export const listActivities = object({
  limit: limit(undefined, ACTIVITIES_MAX),
  since: epoch('Only activities at or after this time, in epoch seconds.'),
  until: epoch('Only activities at or before this time, in epoch seconds.'),
});

export const listAssignedUsers = object({
  business_id: id(
    'ID of the business whose users to list. Defaults to the business recorded when the account was registered.',
  ),
});
