import { limit, object, text } from '../parts/inputs';

export const listFailed = object({
  limit: limit(20, 100),
  cursor: text(512, 'Returns the next page: `paging.cursors.after` of the current one.'),
  status: {
    type: 'string',
    enum: ['failed', 'retrying'],
    description: 'Which events to list. Defaults to both.',
  },
});
