// The API keys beside the partner key.
import { KEY_SCOPES } from '@bmg/common/keys';
import { KeysDefinition } from '@bmg/proto/keys';
import { del, get, patch, post, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { choice, DAY, idsOrNull, object, overlapHours, text, TIME } from '../parts/inputs';
import {
  byCaller,
  itemsOf,
  ofOne,
  partnerAddition,
  refuseNoChange,
  timeOf,
  withoutOverlap,
  type Caller,
} from '../parts/rows';
import { shaped } from '../parts/shape';

const KEY_ID = 'key_01k5x3v9m2c4e6g8j0n1p3r5t7';

const key = is.named('ApiKey', {
  key_id: is.text(KEY_ID, 'ID of the key. It is no secret.'),
  name: is.text('Order system'),
  scopes: is.list(is.choice(KEY_SCOPES)),
  waba_ids: is.maybe.list(
    is.text('900000000000001'),
    'The accounts that it is limited to. Null: all.',
  ),
  addresses: is.maybe.list(is.text('203.0.113.0/24'), 'Where it may be used from. Null: anywhere.'),
  expires_at: is.maybe.time('Null: it does not expire.'),
  key_hint: is.text('bmgk_…x4Tq', 'The prefix and the last four characters of the secret.'),
  last_used_at: is.maybe.time(
    'The last request with the key, refused ones included; to the minute.',
  ),
  previous_expires_at: is.maybe.time(
    'Until when the secret before the last rotation works as well.',
  ),
  created_at: is.time(),
  updated_at: is.time(),
});

const secret = is.text(
  'bmgk_0000000000000000000000000000000000000',
  'Send it as `x-partner-key`. It is shown only now: store it.',
);

const ofKey = ofOne({ key_id: is.text(KEY_ID, 'ID of the key.') });

const GRANTS = 'A key cannot grant more than it has: neither scopes nor addresses nor time.';

const NAME_MAX = 100;
const ADDRESSES_MAX = 50;
/** The longest IPv6 address, with a prefix length. */
const ADDRESS_MAX = 43;

const name = text(NAME_MAX, 'Name of the key, for your own use.');

const scopes = {
  type: 'array',
  items: choice(KEY_SCOPES),
  minItems: 1,
  maxItems: 10,
  description:
    'What the key may do: `send` messages, `read`, `manage` (everything else that changes something, keys included), and see the `billing`. Each endpoint says which scope it needs.',
} as const;

const waba_ids = idsOrNull(
  'ID of a registered business account.',
  'The business accounts that the key is limited to. Null: all of them, also those that are registered later.',
);

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

const limits = { scopes, waba_ids, addresses, expires_at };
const CHANGES = ['name', ...Object.keys(limits)];

const shown = shaped(key);

/** Rows with it take no Idempotency-Key: the answer would be stored with the secret in it. */
const withSecret = shaped(is.record({ key, secret }));

const onKey = (input: Caller & { params: { key_id: string } }) => ({
  ...byCaller(input),
  key_id: input.params.key_id,
});

export const keys: Endpoint[] = [
  get('/keys', rpc(KeysDefinition, 'listKeys'), {
    ...partnerAddition,
    key_scope: 'manage',
    reply: ({ keys: list, keys_max }) => ({ keys: list.map(shown), keys_max }),
    summary: 'List your API keys',
    answer: is.record({
      keys: is.list(key, 'The oldest first.'),
      keys_max: is.whole(50, 'As many as you may have.'),
    }),
    notes:
      'Lists your API keys, without their secrets. The partner key, which has all rights, is not among them.',
  }),
  get('/keys/:key_id', rpc(KeysDefinition, 'getKey'), {
    ...ofKey,
    key_scope: 'manage',
    reply: (key) => ({ key: shown(key) }),
    summary: 'Retrieve an API key',
    answer: is.record({ key }),
    notes: 'Retrieves one of your API keys, without its secret. A revoked key is not found.',
  }),
  post('/keys', rpc(KeysDefinition, 'createKey'), {
    ...partnerAddition,
    fresh_log_in: true,
    status: 201,
    audit: { values: CHANGES, ids: { key_id: 'key.key_id' } },
    body: object({ name, ...limits }, ['name', 'scopes']),
    request: ({ body, ...input }) => ({
      ...byCaller(input),
      name: body.name,
      scopes: body.scopes,
      waba_ids: body.waba_ids ?? [],
      addresses: body.addresses ?? [],
      expires_at: timeOf(body.expires_at),
    }),
    reply: withSecret,
    summary: 'Create an API key with limited rights',
    answer: is.record({ key, secret }),
    example: {
      name: 'Order system',
      scopes: ['send', 'read'],
      waba_ids: ['900000000000001'],
      addresses: ['203.0.113.0/24'],
      expires_at: '2099-01-01T00:00:00Z',
    },
    codes: ['LIMIT_REACHED'],
    notes: `Creates an API key beside your partner key. ${GRANTS} The secret is shown once. If its answer is lost, revoke the key and create another.`,
  }),
  patch('/keys/:key_id', rpc(KeysDefinition, 'updateKey'), {
    ...ofKey,
    audit: { values: CHANGES, before_of: 'key', reduces_risk: 'if_narrower' },
    body: object({ name: { ...name, minLength: 1 }, ...limits }),
    request: ({ body, ...input }) => {
      refuseNoChange(body, CHANGES);
      return {
        ...onKey(input),
        name: body.name,
        scopes: itemsOf(body.scopes),
        waba_ids: itemsOf(body.waba_ids),
        addresses: itemsOf(body.addresses),
        expires_at: timeOf(body.expires_at),
        never_expires: body.expires_at === null,
      };
    },
    reply: (key) => ({ key: shown(key) }),
    summary: 'Update the rights of an API key',
    answer: is.record({ key }),
    example: { name: 'Order system', scopes: ['send', 'read'] },
    codes: ['NOT_FOUND', 'MISSING_FIELDS'],
    notes: `Changes what is given and keeps the rest; null removes a limit. The change is in effect when it is answered. ${GRANTS}`,
  }),
  post('/keys/:key_id/rotate', rpc(KeysDefinition, 'rotateKey'), {
    ...ofKey,
    fresh_log_in: true,
    audit: {
      values: ['overlap_hours'],
      before_of: 'key',
      before: ['name'],
      reduces_risk: withoutOverlap,
    },
    body: overlapHours('works'),
    request: ({ body, ...input }) => ({
      ...onKey(input),
      overlap_hours: body.overlap_hours as number,
    }),
    reply: withSecret,
    summary: 'Replace the secret of an API key',
    answer: is.record({ key, secret }),
    example: { overlap_hours: 24 },
    notes: `Makes a new secret for the key, with the same rights. The old secret works for \`overlap_hours\` more; the previous one stops at once. ${GRANTS}`,
  }),
  del('/keys/:key_id', rpc(KeysDefinition, 'revokeKey'), {
    ...ofKey,
    audit: { before_of: 'key', before: CHANGES, reduces_risk: true },
    request: onKey,
    summary: 'Revoke an API key',
    answer: is.nothing,
    notes:
      'Ends a key. Requests with it are refused from the moment of the answer; unfinished sign-up links that it created end as well.',
  }),
];
