// Health of an account, a number or a flow: each entity that could block a message, and the worst
// status.
import type { Call } from '../core';
import type { Account, BusinessNumber, JsonObject } from '../types';

const BLOCKED_STATUSES = ['BANNED', 'DISCONNECTED', 'PENDING', 'UNVERIFIED', 'RESTRICTED'];

function numberEntity(number: BusinessNumber): JsonObject {
  const blocked = BLOCKED_STATUSES.includes(number.status);
  return {
    entity_type: 'PHONE_NUMBER',
    id: number.id,
    can_send_message: blocked ? 'BLOCKED' : 'AVAILABLE',
    ...(blocked
      ? {
          errors: [
            {
              error_code: 141000,
              error_description: `The phone number has the status ${number.status}`,
              possible_solution: 'Register or reconnect the phone number',
            },
          ],
        }
      : {}),
  };
}

export function otherEntities(call: Call, account: Account): JsonObject[] {
  const review = account.account_review_status === 'APPROVED' ? 'AVAILABLE' : 'LIMITED';
  return [
    { entity_type: 'WABA', id: account.id, can_send_message: review },
    { entity_type: 'BUSINESS', id: account.portfolio.id, can_send_message: 'AVAILABLE' },
    { entity_type: 'APP', id: call.core.config.app_id, can_send_message: 'AVAILABLE' },
  ];
}

/** The overall status is the worst of its parts. */
export function worst(entities: JsonObject[]): JsonObject {
  const values = entities.map((entity) => entity['can_send_message']);
  const overall = ['BLOCKED', 'LIMITED'].find((value) => values.includes(value)) ?? 'AVAILABLE';
  return { can_send_message: overall, entities };
}

export function numberHealth(call: Call, number: BusinessNumber): JsonObject {
  const account = call.state.accountOf(number);
  return worst([numberEntity(number), ...otherEntities(call, account)]);
}
