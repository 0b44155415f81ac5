// Blocks and unblocks users. If some users fail, the answer is HTTP 400 with successes and
// failures.
import { numberOf, routesOf, type Call } from '../core';
import { invalid, upstreamError, webhookError } from '../errors';
import { digitsOf, isBsuid, isParentBsuid } from '../ids';
import { WINDOW_MS } from '../limits';
import { listAnswer, page } from '../paging';
import type { BlockedUser, BusinessNumber, JsonObject } from '../types';
import { isObject, requireProduct } from './parameters';

const USERS_MAX = 1000;
const BLOCKLIST_MAX = 64_000;
const PHONE_DIGITS_MIN = 7;

export const blockingRoutes = routesOf('whatsapp_business_messaging', {
  'GET /:number/block_users': list,
  'POST /:number/block_users': (call) => change(call, 'added_users', block),
  'DELETE /:number/block_users': (call) => change(call, 'removed_users', unblock),
});

function list(call: Call): JsonObject {
  const users = [...numberOf(call).blocked.values()];
  const shown = page(users, keyOf, call);
  return listAnswer(shown, (user) => ({ messaging_product: 'whatsapp', ...user }));
}

function keyOf({ wa_id, user_id }: BlockedUser): string {
  return wa_id ?? user_id ?? '';
}

interface Target {
  input: string;
  /** The IDs that the answer returns beside the input. */
  shown: BlockedUser;
  user: BlockedUser;
}

type Action = (call: Call, number: BusinessNumber, target: Target) => JsonObject | null;

function change(
  call: Call,
  success_key: 'added_users' | 'removed_users',
  action: Action,
): JsonObject {
  const number = numberOf(call);
  requireProduct(call.body);
  const users = call.body['block_users'];
  if (!Array.isArray(users) || users.length === 0) {
    throw invalid('The parameter block_users is required.');
  }
  if (users.length > USERS_MAX) throw invalid(`At most ${USERS_MAX} users a request`);
  const done: JsonObject[] = [];
  const failed: JsonObject[] = [];
  for (const user of users as unknown[]) {
    const target = targetOf(call, number, user);
    const error = action(call, number, target);
    if (error) failed.push({ input: target.input, ...target.shown, errors: [error] });
    else done.push({ input: target.input, ...target.shown });
  }
  const block_users = {
    ...(done.length > 0 || failed.length === 0 ? { [success_key]: done } : {}),
    ...(failed.length > 0 ? { failed_users: failed } : {}),
  };
  if (failed.length === 0) return { messaging_product: 'whatsapp', block_users };
  throw upstreamError(139100, 'Some users could not be processed', {
    beside: { messaging_product: 'whatsapp', block_users },
    data: { details: 'Some users could not be processed' },
  });
}

function targetOf(call: Call, number: BusinessNumber, user: unknown): Target {
  const phone = isObject(user) ? user['user'] : undefined;
  const user_id = isObject(user) ? user['user_id'] : undefined;
  const portfolio_id = call.state.accountOf(number).portfolio.id;
  if (typeof phone === 'string' && phone !== '') {
    const wa_id = digitsOf(phone);
    const customer = call.state.customerByPhone(portfolio_id, wa_id);
    return { input: phone, shown: { wa_id }, user: { wa_id, user_id: customer.user_id } };
  }
  if (typeof user_id !== 'string' || !isBsuid(user_id) || isParentBsuid(user_id)) {
    throw invalid('Each element of block_users needs a user or a user_id');
  }
  const customer = call.state.customerById(portfolio_id, user_id);
  const wa_id = customer === 'foreign' ? null : customer.wa_id;
  return {
    input: user_id,
    shown: { user_id },
    user: { ...(wa_id ? { wa_id } : {}), user_id },
  };
}

function block(call: Call, number: BusinessNumber, { user, input }: Target): JsonObject | null {
  const { wa_id, user_id } = user;
  if (wa_id !== undefined && wa_id.length < PHONE_DIGITS_MIN) {
    return webhookError(131009, `${input} is not a valid phone number`);
  }
  if (wa_id === digitsOf(number.display_phone_number)) return webhookError(131021);
  const wrote = [wa_id, user_id].some((id) => {
    const at = id ? call.state.lastInbound(number.id, id) : undefined;
    return at !== undefined && Date.now() - at < WINDOW_MS;
  });
  if (!wrote) return webhookError(131047, 'No message from this user in the last 24 hours');
  if (number.blocked.size >= BLOCKLIST_MAX) return webhookError(139101);
  number.blocked.set(keyOf(user), user);
  return null;
}

function unblock(_call: Call, number: BusinessNumber, { user }: Target): JsonObject | null {
  return number.blocked.delete(keyOf(user))
    ? null
    : webhookError(131009, 'The user is not blocked');
}
