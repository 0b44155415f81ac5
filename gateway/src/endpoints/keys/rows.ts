// The API keys beside the partner key.
import { missingFields } from '@bmg/common/errors';
import { KeysDefinition, type ApiKey } from '@bmg/proto/keys';
import * as docs from './docs';
import * as schemas from './schemas';
import { del, get, patch, post, rpc, type Endpoint, type Fields } from '../endpoint';
import { withoutOverlap } from '../parts/rows';

/** The service leaves out what does not limit a key; partners see null. */
const shown = (key: ApiKey): Fields => ({
  ...key,
  waba_ids: key.waba_ids.length > 0 ? key.waba_ids : null,
  addresses: key.addresses.length > 0 ? key.addresses : null,
  expires_at: key.expires_at ?? null,
  last_used_at: key.last_used_at ?? null,
  previous_expires_at: key.previous_expires_at ?? null,
});

/** Takes no Idempotency-Key: the answer would be stored with the secret in it. */
const withSecret = ({ key, secret }: { key?: ApiKey | undefined; secret: string }): Fields => ({
  key: shown(key as ApiKey),
  secret,
});

/** The schema has checked its form. */
const timeOf = (text: string | null | undefined): Date | undefined =>
  text ? new Date(text.toUpperCase()) : undefined;

/** Null removes the limit: no items. */
const itemsOf = (
  list: readonly string[] | null | undefined,
): { items: readonly string[] } | undefined =>
  list === undefined ? undefined : { items: list ?? [] };

const CHANGES = ['name', 'scopes', 'waba_ids', 'addresses', 'expires_at'] as const;

export const keys: Endpoint[] = [
  get('/keys', rpc(KeysDefinition, 'listKeys'), {
    scope: 'partner',
    key_scope: 'manage',
    addition: true,
    reply: ({ keys: list, keys_max }) => ({ keys: list.map(shown), keys_max }),
    docs: docs.listKeys,
    summary: 'List your API keys',
  }),
  get('/keys/:key_id', rpc(KeysDefinition, 'getKey'), {
    scope: 'partner',
    key_scope: 'manage',
    addition: true,
    reply: (key) => ({ key: shown(key) }),
    docs: docs.getKey,
    summary: 'Retrieve an API key',
  }),
  post('/keys', rpc(KeysDefinition, 'createKey'), {
    scope: 'partner',
    fresh_log_in: true,
    addition: true,
    status: 201,
    audit: { values: CHANGES, ids: { key_id: 'key.key_id' } },
    body: schemas.createKey,
    request: ({ body, partner_id, key_id, person_id }) => ({
      partner_id,
      caller_key_id: key_id,
      caller_person_id: person_id,
      name: body.name,
      scopes: body.scopes,
      waba_ids: body.waba_ids ?? [],
      addresses: body.addresses ?? [],
      expires_at: timeOf(body.expires_at),
    }),
    reply: withSecret,
    docs: docs.createKey,
    summary: 'Create an API key with limited rights',
  }),
  patch('/keys/:key_id', rpc(KeysDefinition, 'updateKey'), {
    scope: 'partner',
    addition: true,
    audit: { values: CHANGES, before_of: 'key', reduces_risk: 'if_narrower' },
    body: schemas.updateKey,
    request: ({ body, params, partner_id, key_id: caller_key_id, person_id }) => {
      if (CHANGES.every((field) => body[field] === undefined)) {
        throw missingFields([...CHANGES], `one of ${CHANGES.join(', ')} is required`);
      }
      return {
        partner_id,
        caller_key_id,
        caller_person_id: person_id,
        key_id: params.key_id,
        name: body.name,
        scopes: itemsOf(body.scopes),
        waba_ids: itemsOf(body.waba_ids),
        addresses: itemsOf(body.addresses),
        expires_at: timeOf(body.expires_at),
        never_expires: body.expires_at === null,
      };
    },
    reply: (key) => ({ key: shown(key) }),
    docs: docs.updateKey,
    summary: 'Update the rights of an API key',
  }),
  post('/keys/:key_id/rotate', rpc(KeysDefinition, 'rotateKey'), {
    scope: 'partner',
    fresh_log_in: true,
    addition: true,
    audit: {
      values: ['overlap_hours'],
      before_of: 'key',
      before: ['name'],
      reduces_risk: withoutOverlap,
    },
    body: schemas.rotateKey,
    request: ({ body, params, partner_id, key_id: caller_key_id, person_id }) => ({
      partner_id,
      caller_key_id,
      caller_person_id: person_id,
      key_id: params.key_id,
      overlap_hours: body.overlap_hours as number,
    }),
    reply: withSecret,
    docs: docs.rotateKey,
    summary: 'Replace the secret of an API key',
  }),
  del('/keys/:key_id', rpc(KeysDefinition, 'revokeKey'), {
    scope: 'partner',
    addition: true,
    audit: { before_of: 'key', before: CHANGES, reduces_risk: true },
    request: ({ params, partner_id, key_id: caller_key_id, person_id }) => ({
      partner_id,
      caller_key_id,
      caller_person_id: person_id,
      key_id: params.key_id,
    }),
    docs: docs.revokeKey,
    summary: 'Revoke an API key',
  }),
];
