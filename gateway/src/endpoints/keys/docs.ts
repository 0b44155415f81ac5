import { KEY_SCOPES } from '@bmg/common/keys';
import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const KEY_ID = 'key_01k5x3v9m2c4e6g8j0n1p3r5t7';

const key = is.record(
  {
    key_id: is.text(KEY_ID, 'ID of the key. It is no secret.'),
    name: is.text('Order system'),
    scopes: is.list(is.choice(KEY_SCOPES)),
    waba_ids: is.orNull(
      is.list(is.text('900000000000001'), 'The accounts that it is limited to. Null: all.'),
    ),
    addresses: is.orNull(
      is.list(is.text('203.0.113.0/24'), 'Where it may be used from. Null: anywhere.'),
    ),
    expires_at: is.orNull(is.time('Null: it does not expire.')),
    key_hint: is.text('bmgk_…x4Tq', 'The prefix and the last four characters of the secret.'),
    last_used_at: is.orNull(
      is.time('The last request with the key, refused ones included; to the minute.'),
    ),
    previous_expires_at: is.orNull(
      is.time('Until when the secret before the last rotation works as well.'),
    ),
    created_at: is.time(),
    updated_at: is.time(),
  },
  { title: 'ApiKey' },
);

const secret = is.text(
  'bmgk_0000000000000000000000000000000000000',
  'Send it as `x-partner-key`. It is shown only now: store it.',
);

const params = { key_id: is.text(KEY_ID, 'ID of the key.') };

const GRANTS = 'A key cannot grant more than it has: neither scopes nor addresses nor time.';

export const listKeys: RowDocs = {
  answer: is.record({
    keys: is.list(key, 'The oldest first.'),
    keys_max: is.whole(50, 'As many as you may have.'),
  }),
  notes:
    'Lists your API keys, without their secrets. The partner key, which has all rights, is not among them.',
};

export const getKey: RowDocs = {
  params,
  answer: is.record({ key }),
  codes: ['NOT_FOUND'],
  notes: 'Retrieves one of your API keys, without its secret. A revoked key is not found.',
};

export const createKey: RowDocs = {
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
};

export const updateKey: RowDocs = {
  params,
  answer: is.record({ key }),
  example: { name: 'Order system', scopes: ['send', 'read'] },
  codes: ['NOT_FOUND', 'MISSING_FIELDS'],
  notes: `Changes what is given and keeps the rest; null removes a limit. The change is in effect when it is answered. ${GRANTS}`,
};

export const rotateKey: RowDocs = {
  params,
  answer: is.record({ key, secret }),
  example: { overlap_hours: 24 },
  codes: ['NOT_FOUND'],
  notes: `Makes a new secret for the key, with the same rights. The old secret works for \`overlap_hours\` more; the previous one stops at once. ${GRANTS}`,
};

export const revokeKey: RowDocs = {
  params,
  answer: is.nothing,
  codes: ['NOT_FOUND'],
  notes:
    'Ends a key. Requests with it are refused from the moment of the answer; unfinished sign-up links that it created end as well.',
};
