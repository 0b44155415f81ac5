import { cursor, instant, limit, object, text } from '../parts/inputs';

const NAME_MAX = 256;

export const listAudit = object({
  from: instant('Only changes made at this time or later.'),
  to: instant('Only changes made at this time or earlier.'),
  actor: text(
    NAME_MAX,
    'Only changes of this actor: an ID (of an API key, a console session, a sign-up link), or a type.',
  ),
  action: text(NAME_MAX, 'Only this action, as the records spell it: `PATCH /keys/{key_id}`.'),
  target: text(
    NAME_MAX,
    'Only changes of the object with this ID: a key, an account, a broadcast.',
  ),
  limit: limit(50, 100),
  cursor: cursor('Returns the next page: `paging.cursors.after` of the current one.'),
});
