// Who a key belongs to: the partner of a partner key, or the partner and the restriction of an API
// key. API keys are looked up only for hashes that no partner key has, so that they cost nothing to
// partners without one.
import { invalidKey, type Load } from '@bmg/common/directory';
import { AuthenticateResponse, KeyRestriction } from '@bmg/proto/onboarding';
import type { PartnerKey } from '../../accounts/keys';
import { messageOf } from '../../ground/message';
import type { Partner } from '../../ground/partners';
import { validSecrets } from './rules';
import type { Dependencies } from '../../dependencies';

interface Callers {
  /** Takes hashes of partner keys. */
  unrestricted: Load<string, AuthenticateResponse>;
  /** Takes hashes of any keys. */
  all: Load<string, AuthenticateResponse>;
}

/** A key's last use is stored at most this often. */
const NOTE_USE_EVERY_MS = 60_000;

type Found = Map<string, AuthenticateResponse>;

export function createCallers({ partners, partnerKeys, now, log }: Dependencies): Callers {
  const byPartnerKey = async (key_hashes: string[]): Promise<Found> => {
    const found: Found = new Map();
    for (const partner of await partners.findByKeyHashes(key_hashes)) {
      for (const key_hash of validKeys(partner, now())) found.set(key_hash, callerOf(partner));
    }
    return found;
  };
  /** Gateways look up a key every few seconds of its use, which is noted then. */
  const noteUse = (keys: PartnerKey[], at: Date): void => {
    const since = new Date(at.getTime() - NOTE_USE_EVERY_MS);
    const due = keys.filter(({ last_used_at }) => !last_used_at || last_used_at < since);
    if (due.length === 0) return;
    const ids = due.map(({ _id }) => _id);
    partnerKeys
      .noteUse(ids, at, since)
      .catch((error: unknown) => log.warn({ err: error }, 'failed to store the use of API keys'));
  };
  const byApiKey = async (key_hashes: string[]): Promise<Found> => {
    const keys = key_hashes.length === 0 ? [] : await partnerKeys.findByHashes(key_hashes);
    const found: Found = new Map();
    if (keys.length === 0) return found;
    const owners = await partners.findAll([...new Set(keys.map(({ partner_id }) => partner_id))]);
    const ownerOf = new Map(owners.map((partner) => [partner._id, partner]));
    const at = now();
    const used = new Set<PartnerKey>();
    for (const key of keys) {
      const partner = ownerOf.get(key.partner_id);
      if (!partner) continue;
      for (const { key_hash, expires_at } of validSecrets(key, at)) {
        if (key_hashes.includes(key_hash)) used.add(key);
        found.set(key_hash, { ...callerOf(partner), restriction: restrictionOf(key, expires_at) });
      }
    }
    noteUse([...used], at);
    return found;
  };
  return {
    async unrestricted(key_hashes) {
      const found = await byPartnerKey(key_hashes);
      return key_hashes.map((key_hash) => found.get(key_hash) ?? invalidKey());
    },
    async all(key_hashes) {
      const found = await byPartnerKey(key_hashes);
      const others = await byApiKey(key_hashes.filter((key_hash) => !found.has(key_hash)));
      return key_hashes.map(
        (key_hash) => found.get(key_hash) ?? others.get(key_hash) ?? invalidKey(),
      );
    },
  };
}

const callerOf = (partner: Partner): AuthenticateResponse =>
  messageOf(AuthenticateResponse, { ...partner, partner_id: partner._id });

const restrictionOf = (key: PartnerKey, expires_at: Date | null) =>
  messageOf(KeyRestriction, { ...key, key_id: key._id, expires_at });

const validKeys = ({ key_hash, previous_key }: Partner, at: Date): string[] =>
  previous_key && previous_key.expires_at > at ? [key_hash, previous_key.key_hash] : [key_hash];
