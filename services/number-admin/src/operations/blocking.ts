// Blocking: when some users fail, the upstream answers HTTP 400 with both lists in the body. Here
// that is a success whose reply lists the failures.
import { invalidField, missingFields } from '@bmg/common/errors';
import { isParentBsuid } from '@bmg/common/ids';
import {
  cursorsOf,
  isObject,
  itemsOf,
  unusable,
  without,
  type Json,
  type Question,
} from '@bmg/common/upstream';
import type { BlockResult, BlockUsersRequest } from '@bmg/proto/numberadmin';
import type { Part } from '../tools';
import { pageQuery, usedLimit, userEntry } from '../requests';

/** Limits: at most 1,000 users a request. */
const USERS_MAX = 1_000;
const PAGE_MAX = 100;

type Done = 'added_users' | 'removed_users';

function blockBody({ users }: BlockUsersRequest): Json {
  if (users.length === 0) throw missingFields(['users']);
  if (users.length > USERS_MAX) {
    throw invalidField('users', `must have at most ${USERS_MAX} items`);
  }
  return {
    messaging_product: 'whatsapp',
    block_users: users.map((user, index) => {
      const field = `users[${index}]`;
      const entry = userEntry(user, field);
      if ('user_id' in entry && isParentBsuid(entry.user_id)) {
        throw invalidField(field, 'is a parent BSUID, which cannot be blocked');
      }
      return entry;
    }),
  };
}

const listIn = (body: Json, name: Done | 'failed_users'): Json[] => {
  const result = body['block_users'];
  const list = isObject(result) ? result[name] : undefined;
  return Array.isArray(list) ? (list as unknown[]).filter(isObject) : [];
};

const change = (method: 'POST' | 'DELETE', done: Done) => ({
  upstream: `${method} /{phone_number_id}/block_users` as Question<never>['upstream'],
  body: blockBody,
  // An error without users refuses the whole request.
  accept: (body: Json) => [...listIn(body, done), ...listIn(body, 'failed_users')].length > 0,
  reply: (body: Json): BlockResult => {
    if (!isObject(body['block_users'])) throw unusable('a result');
    return { done: listIn(body, done), failed: listIn(body, 'failed_users') };
  },
});

export const blocking: Part<'listBlocked' | 'blockUsers' | 'unblockUsers'> = {
  listBlocked: {
    upstream: 'GET /{phone_number_id}/block_users',
    query: (request) => pageQuery(request, PAGE_MAX),
    reply: (body, request) => ({
      items: itemsOf(body).map((user) => without(user, 'messaging_product')),
      ...cursorsOf(body),
      limit: usedLimit(request, PAGE_MAX),
    }),
  },
  blockUsers: change('POST', 'added_users'),
  unblockUsers: change('DELETE', 'removed_users'),
};
