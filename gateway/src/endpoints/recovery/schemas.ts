import { cursor, id, limit, object } from '../parts/inputs';

export const retryEvent = object({
  endpoint_id: id(
    'Redelivers to this webhook endpoint, as the list of failed events names it. Defaults to your webhook URL.',
  ),
});

export const listFailed = object({
  limit: limit(20, 100),
  cursor: cursor('Returns the next page: `paging.cursors.after` of the current one.'),
  status: {
    type: 'string',
    enum: ['failed', 'retrying'],
    description: 'Which events to list. Defaults to both.',
  },
});
