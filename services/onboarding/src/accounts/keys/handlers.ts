// RPC handlers of a partner's API keys. Every change bumps the partner's directory version, so that
// it is in effect on all gateways when it is answered.
import { limitReached, missingFields } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { createKey, keyHint, PARTNER_KEY_PREFIX } from '@bmg/common/keys';
import type { Handlers } from '@bmg/common/rpc';
import {
  ApiKey,
  type KeysDefinition,
  type RotateKeyRequest,
  type UpdateKeyRequest,
} from '@bmg/proto/keys';
import { noSuch, orNotFound } from '../../ground/insert';
import { messageOf } from '../../ground/message';
import { bumpPartner, partnerOf } from '../../ground/partners';
import { checkOverlap, HOUR_MS, rotate } from '../../ground/webhook-secret';
import { KEYS_MAX, type PartnerKey, type PartnerKeyChange } from './store';
import { callerOf, type Asked } from './caller';
import {
  checkKeyAccounts,
  checkAddresses,
  checkExpiry,
  checkName,
  checkScopes,
  checkWithin,
  type Grant,
} from './rules';
import type { Dependencies } from '../../dependencies';

export function createKeyHandlers(deps: Dependencies): Handlers<KeysDefinition> {
  const { partners, partnerKeys, sessions, now, log } = deps;
  return {
    async listKeys({ partner_id }) {
      await partnerOf(partners, partner_id);
      const keys = await partnerKeys.list(partner_id);
      return { keys: keys.map((key) => keyMessage(key, now())), keys_max: KEYS_MAX };
    },
    getKey: async (request) => keyMessage(await keyOf(deps, request), now()),
    async createKey(request) {
      const { partner_id } = request;
      const name = checkName(request.name);
      const scopes = checkScopes(request.scopes);
      const addresses = checkAddresses(request.addresses);
      const created_at = now();
      const expires_at = checkExpiry(request.expires_at, created_at);
      const { wabas } = await partnerOf(partners, partner_id);
      const waba_ids = checkKeyAccounts(request.waba_ids, wabas);
      const grant = { scopes, waba_ids, addresses, expires_at };
      await checkGrant(deps, request, grant);
      const { secret, stored } = newSecret(deps);
      const key = {
        _id: newId('key', created_at.getTime()),
        partner_id,
        name,
        ...stored,
        previous: null,
        ...grant,
        last_used_at: null,
        created_at,
        updated_at: created_at,
      };
      if (!(await partnerKeys.insert(key))) throw tooManyKeys();
      log.info({ partner_id, key_id: key._id, scopes }, 'created an API key');
      return { key: keyMessage(key, created_at), secret };
    },
    async updateKey(request) {
      const { partner_id, key_id } = request;
      const change = await changeOf(deps, request);
      await checkGrant(deps, request, { ...(await keyOf(deps, request)), ...change });
      const changed = orNotFound(
        await partnerKeys.change(partner_id, key_id, change, now()),
        'key',
      );
      await bumpPartner(deps, partner_id);
      log.info({ partner_id, key_id, fields: Object.keys(change) }, 'changed an API key');
      return keyMessage(changed, now());
    },
    async rotateKey(request) {
      const { partner_id, key_id, overlap_hours } = request;
      checkOverlap(overlap_hours);
      const { key, secret } = await rotate('an API key', () => replaceSecret(deps, request));
      await bumpPartner(deps, partner_id);
      if (overlap_hours === 0) await sessions.deleteUnfinished(partner_id, now(), key_id);
      log.info({ partner_id, key_id, overlap_hours }, 'rotated an API key');
      return { key: keyMessage(key, now()), secret };
    },
    async revokeKey(request) {
      const { partner_id, key_id, caller_key_id } = request;
      if (caller_key_id !== key_id) await checkGrant(deps, request, await keyOf(deps, request));
      if (!(await partnerKeys.remove(partner_id, key_id))) throw noSuch('key');
      await bumpPartner(deps, partner_id);
      await sessions.deleteUnfinished(partner_id, now(), key_id);
      log.info({ partner_id, key_id }, 'revoked an API key');
      return {};
    },
  };
}

const keyOf = async (
  { partnerKeys }: Dependencies,
  { partner_id, key_id }: { partner_id: string; key_id: string },
): Promise<PartnerKey> => orNotFound(await partnerKeys.find(partner_id, key_id), 'key');

async function checkGrant(deps: Dependencies, asked: Asked, wanted: Grant): Promise<void> {
  const { grant } = await callerOf(deps, asked);
  if (grant) checkWithin(grant, wanted);
}

function newSecret({ peppers }: Dependencies) {
  const secret = createKey(PARTNER_KEY_PREFIX);
  return { secret, stored: { key_hash: peppers.hash(secret), key_hint: keyHint(secret) } };
}

/** Undefined if another rotation has just replaced the secret. */
async function replaceSecret(deps: Dependencies, request: RotateKeyRequest) {
  const { partnerKeys, now } = deps;
  const { overlap_hours } = request;
  const before = await keyOf(deps, request);
  await checkGrant(deps, request, before);
  const { secret, stored } = newSecret(deps);
  const expires_at = new Date(now().getTime() + overlap_hours * HOUR_MS);
  const previous = overlap_hours > 0 ? { key_hash: before.key_hash, expires_at } : null;
  const key = await partnerKeys.replaceSecret(before, { ...stored, previous }, now());
  return key ? { key, secret } : undefined;
}

/** The fields to change, checked. Throws MISSING_FIELDS without any. */
async function changeOf(
  { partners, now }: Dependencies,
  { partner_id, name, scopes, waba_ids, addresses, expires_at, never_expires }: UpdateKeyRequest,
): Promise<PartnerKeyChange> {
  const change = {
    ...(name !== undefined && { name: checkName(name) }),
    ...(scopes && { scopes: checkScopes(scopes.items) }),
    ...(addresses && { addresses: checkAddresses(addresses.items) }),
    ...(never_expires && { expires_at: null }),
    ...(expires_at && { expires_at: checkExpiry(expires_at, now()) }),
    ...(waba_ids && {
      waba_ids: checkKeyAccounts(waba_ids.items, (await partnerOf(partners, partner_id)).wabas),
    }),
  };
  if (Object.keys(change).length > 0) return change;
  throw missingFields(
    ['name', 'scopes', 'waba_ids', 'addresses', 'expires_at'],
    'name, scopes, waba_ids, addresses or expires_at is required',
  );
}

const tooManyKeys = () =>
  limitReached(KEYS_MAX, 'keys, the most that a partner may have: revoke one first');

function keyMessage(key: Omit<PartnerKey, 'place'>, now: Date): ApiKey {
  const { _id: key_id, previous } = key;
  const previous_expires_at = previous && previous.expires_at > now ? previous.expires_at : null;
  return messageOf(ApiKey, { ...key, key_id, previous_expires_at });
}
