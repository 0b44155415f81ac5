// RPC handlers of a partner's API keys. Every change bumps the partner's directory version, so that it is
// in effect on all gateways when it is answered.
import { invalidKey, partnerVersionKey, type Versions } from '@bmg/common/directory';
import { ApiError, limitReached, missingFields } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { createKey, keyHint, PARTNER_KEY_PREFIX, type Peppers } from '@bmg/common/keys';
import { ROLE_SCOPES } from '@bmg/common/people';
import type { Handlers } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { ApiKey, KeysDefinition, UpdateKeyRequest } from '@bmg/proto/keys';
import { checkOverlap, HOUR_MS } from '../../ground/overlap';
import {
  KEYS_MAX,
  type PartnerKey,
  type PartnerKeyChange,
  type PartnerKeys,
  type Secret,
} from './store';
import { partnerOf, type Partners } from '../../ground/partners';
import type { People } from '../../ground/people';
import {
  checkKeyAccounts,
  checkAddresses,
  checkExpiry,
  checkName,
  checkScopes,
  checkWithin,
  type Grant,
} from './rules';

export interface KeyDependencies {
  partners: Pick<Partners, 'find'>;
  partnerKeys: PartnerKeys;
  people: Pick<People, 'find'>;
  peppers: Pick<Peppers, 'hash'>;
  versions: Pick<Versions, 'bump'>;
  /** Deletes the unfinished connect sessions that a key created. */
  deleteSessions(partner_id: string, key_id: string): Promise<number>;
  now: () => Date;
  log: Logger;
}

/** An attempt fails only if another rotation of the key has just succeeded. */
const ROTATE_TRIES_MAX = 5;

/** Requests of several rooms name their caller so. */
export interface Asked {
  partner_id: string;
  caller_key_id?: string | undefined;
  caller_person_id?: string | undefined;
}

/** Longer than 70 lines: one short method for each RPC. */
export function createKeyHandlers(deps: KeyDependencies): Handlers<KeysDefinition> {
  const { partners, partnerKeys, people, peppers, versions, now, log } = deps;
  const getKey = async (partner_id: string, key_id: string): Promise<PartnerKey> => {
    const key = await partnerKeys.find(partner_id, key_id);
    if (!key) throw noSuchKey();
    return key;
  };
  /** Undefined for a caller with all rights. It may have been revoked since the request was admitted. */
  const callerOf = async ({
    partner_id,
    caller_key_id,
    caller_person_id,
  }: Asked): Promise<Grant | undefined> => {
    if (caller_key_id !== undefined) {
      const key = await partnerKeys.find(partner_id, caller_key_id);
      if (!key) throw invalidKey();
      return key;
    }
    if (caller_person_id === undefined) return undefined;
    const person = await people.find(partner_id, caller_person_id);
    if (!person) throw new ApiError('UNAUTHORIZED', 'this person was removed');
    const scopes = [...ROLE_SCOPES[person.role]];
    return { scopes, waba_ids: null, addresses: null, expires_at: null };
  };
  const checkGrant = async (asked: Asked, grant: Grant): Promise<void> => {
    const caller = await callerOf(asked);
    if (caller) checkWithin(caller, grant);
  };
  const bump = (partner_id: string): Promise<void> =>
    versions.bump([partnerVersionKey(partner_id)]);
  const newSecret = (): { secret: string; stored: Omit<Secret, 'previous'> } => {
    const secret = createKey(PARTNER_KEY_PREFIX);
    return { secret, stored: { key_hash: peppers.hash(secret), key_hint: keyHint(secret) } };
  };

  return {
    async listKeys({ partner_id }) {
      await partnerOf(partners, partner_id);
      const keys = await partnerKeys.list(partner_id);
      return { keys: keys.map((key) => keyMessage(key, now())), keys_max: KEYS_MAX };
    },
    getKey: async ({ partner_id, key_id }) => keyMessage(await getKey(partner_id, key_id), now()),
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
      await checkGrant(request, grant);
      const { secret, stored } = newSecret();
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
      return { key: keyMessage({ ...key, place: 0 }, created_at), secret };
    },
    async updateKey(request) {
      const { partner_id, key_id } = request;
      const change = changeOf(request, now());
      if (request.waba_ids) {
        const { wabas } = await partnerOf(partners, partner_id);
        change.waba_ids = checkKeyAccounts(request.waba_ids.items, wabas);
      }
      if (Object.keys(change).length === 0) throw nothingToChange();
      await checkGrant(request, { ...(await getKey(partner_id, key_id)), ...change });
      const changed = await partnerKeys.change(partner_id, key_id, change, now());
      if (!changed) throw noSuchKey();
      await bump(partner_id);
      log.info({ partner_id, key_id, fields: Object.keys(change) }, 'changed an API key');
      return keyMessage(changed, now());
    },
    async rotateKey(request) {
      const { partner_id, key_id, overlap_hours } = request;
      checkOverlap(overlap_hours);
      for (let tries = 0; tries < ROTATE_TRIES_MAX; tries += 1) {
        const key = await getKey(partner_id, key_id);
        await checkGrant(request, key);
        const { secret, stored } = newSecret();
        const expires_at = new Date(now().getTime() + overlap_hours * HOUR_MS);
        const previous = overlap_hours > 0 ? { key_hash: key.key_hash, expires_at } : null;
        const changed = await partnerKeys.replaceSecret(key, { ...stored, previous }, now());
        if (!changed) continue;
        await bump(partner_id);
        if (overlap_hours === 0) await deps.deleteSessions(partner_id, key_id);
        log.info({ partner_id, key_id, overlap_hours }, 'rotated an API key');
        return { key: keyMessage(changed, now()), secret };
      }
      throw new Error('failed to rotate an API key: it kept changing');
    },
    async revokeKey(request) {
      const { partner_id, key_id, caller_key_id } = request;
      if (caller_key_id !== key_id) await checkGrant(request, await getKey(partner_id, key_id));
      if (!(await partnerKeys.remove(partner_id, key_id))) throw noSuchKey();
      await bump(partner_id);
      await deps.deleteSessions(partner_id, key_id);
      log.info({ partner_id, key_id }, 'revoked an API key');
      return {};
    },
  };
}

/** The fields to change, without the accounts, which are compared with those of the partner. */
function changeOf(request: UpdateKeyRequest, now: Date): PartnerKeyChange {
  const { name, scopes, addresses, expires_at, never_expires } = request;
  return {
    ...(name !== undefined && { name: checkName(name) }),
    ...(scopes && { scopes: checkScopes(scopes.items) }),
    ...(addresses && { addresses: checkAddresses(addresses.items) }),
    ...(never_expires && { expires_at: null }),
    ...(expires_at && { expires_at: checkExpiry(expires_at, now) }),
  };
}

const noSuchKey = (): ApiError => new ApiError('NOT_FOUND', 'there is no such key');

const nothingToChange = (): ApiError =>
  missingFields(
    ['name', 'scopes', 'waba_ids', 'addresses', 'expires_at'],
    'name, scopes, waba_ids, addresses or expires_at is required',
  );

const tooManyKeys = (): ApiError =>
  limitReached(KEYS_MAX, 'keys, the most that a partner may have: revoke one first');

const keyMessage = (key: PartnerKey, now: Date): ApiKey => ({
  key_id: key._id,
  name: key.name,
  scopes: key.scopes,
  waba_ids: key.waba_ids ?? [],
  addresses: key.addresses ?? [],
  expires_at: key.expires_at ?? undefined,
  key_hint: key.key_hint,
  last_used_at: key.last_used_at ?? undefined,
  previous_expires_at:
    key.previous && key.previous.expires_at > now ? key.previous.expires_at : undefined,
  created_at: key.created_at,
  updated_at: key.updated_at,
});
