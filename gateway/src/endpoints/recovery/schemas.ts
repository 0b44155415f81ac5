import { limit, object, text } from '../parts/inputs';

export const listFailed = object({
  limit: limit(20, 100),
  cursor: text(512, 'paging.cursors.after of the page before'),
  status: { type: 'string', enum: ['failed', 'retrying'], description: 'both unless given' },
});
