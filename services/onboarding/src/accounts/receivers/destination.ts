// The destination of an endpoint, instead of a URL: which settings it may have.
import {
  changedSettings,
  checkSettings,
  credentialsToRepeat,
  DESTINATION_TYPES,
  DestinationError,
  isDestinationType,
  type DestinationType,
} from '@bmg/common/destinations';
import { invalidField, missingFields } from '@bmg/common/errors';
import type { Destination } from '@bmg/proto/common';
import type { Dependencies } from '../../dependencies';
import { openDestination, sealDestination } from './sealed';
import type { StoredDestination, WebhookEndpoint } from './store';

/**
 * The destination of a new endpoint, or that of a stored one with some settings changed; null sets
 * a default. `to_repeat` are the credentials that the change must name, because it leads to another
 * server. Throws MISSING_FIELDS or INVALID_FIELD, naming the setting.
 */
export function changedDestination(
  { vault, settings: { ALLOW_PRIVATE_URLS: allowPrivate } }: Dependencies,
  { _id: endpoint_id, destination: stored }: Pick<WebhookEndpoint, '_id' | 'destination'>,
  { type: given, settings = {} }: Destination,
): { destination: StoredDestination; to_repeat: string[] } {
  const type = typeOf(given, stored?.type);
  const before = (stored && openDestination(vault, endpoint_id, stored).settings) ?? {};
  const after = checked(type, changedSettings(before, settings), allowPrivate);
  const repeat = credentialsToRepeat(type, { before, change: settings, after });
  return {
    destination: sealDestination(vault, endpoint_id, type, after),
    to_repeat: repeat.map((setting) => `destination.${setting}`),
  };
}

function typeOf(given: string, stored: DestinationType | undefined): DestinationType {
  if (stored !== undefined) {
    if (given === '' || given === stored) return stored;
    throw invalidField('destination.type', 'cannot be changed: create another endpoint');
  }
  if (given === '') throw missingFields(['destination.type']);
  if (isDestinationType(given)) return given;
  throw invalidField('destination.type', `must be one of ${DESTINATION_TYPES.join(', ')}`);
}

function checked(type: DestinationType, settings: object, allowPrivate: boolean): object {
  try {
    return checkSettings(type, settings, { allowPrivate });
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error;
    if (error.missing.length > 0) {
      throw missingFields(error.missing.map((setting) => `destination.${setting}`));
    }
    throw invalidField(`destination.${error.setting}`, error.problem);
  }
}
