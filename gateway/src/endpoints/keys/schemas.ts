import { KEY_SCOPES } from '@bmg/common/keys';
import { DAY, id, object, text, TIME } from '../parts/inputs';

const NAME_MAX = 100;
const WABA_IDS_MAX = 100;
const ADDRESSES_MAX = 50;
/** The longest IPv6 address, with a prefix length. */
const ADDRESS_MAX = 43;
const OVERLAP_HOURS_MAX = 720;

const name = text(NAME_MAX, 'Name of the key, for your own use.');

const scopes = {
  type: 'array',
  items: { type: 'string', enum: KEY_SCOPES },
  minItems: 1,
  maxItems: 10,
  description:
    'What the key may do: `send` messages, `read`, `manage` (everything else that changes something, keys included), and see the `billing`. Each endpoint says which scope it needs.',
} as const;

const waba_ids = {
  type: ['array', 'null'],
  items: id('ID of a registered business account.'),
  minItems: 1,
  maxItems: WABA_IDS_MAX,
  description:
    'The business accounts that the key is limited to. Null: all of them, also those that are registered later.',
} as const;

const addresses = {
  type: ['array', 'null'],
  items: text(ADDRESS_MAX, 'An IP address or a network, for example `203.0.113.0/24`.'),
  minItems: 1,
  maxItems: ADDRESSES_MAX,
  description:
    'The addresses and networks from which the key may be used, IPv4 or IPv6. Null: any.',
} as const;

const expires_at = {
  type: ['string', 'null'],
  pattern: `^${DAY}${TIME}([Zz]|[+-]([01]\\d|2[0-3]):[0-5]\\d)$`,
  errorMessage: 'must be an RFC 3339 date-time with a time zone, for example 2026-09-01T12:00:00Z',
  description: 'When the key stops working, a time in the future. Null: never.',
} as const;

export const createKey = object({ name, scopes, waba_ids, addresses, expires_at }, [
  'name',
  'scopes',
]);

/** The row refuses a body without any of them: null is a value here. */
export const updateKey = object({
  name: { ...name, minLength: 1 },
  scopes,
  waba_ids,
  addresses,
  expires_at,
});

export const rotateKey = object({
  overlap_hours: {
    type: 'integer',
    minimum: 0,
    maximum: OVERLAP_HOURS_MAX,
    default: 24,
    description: 'Hours for which the old secret works as well. 0: it stops at once.',
  },
});
