// Seals the credentials of a destination, and the secret and headers of a shadow; opens them again.
import { isSecret, withoutSecrets, type DestinationType } from '@bmg/common/destinations';
import type { Sealed, Vault } from '@bmg/common/vault';
import type { Destination } from '@bmg/proto/common';
import { shadowIdentity } from '../../ground/partners';
import { endpointDestinationIdentity, type StoredDestination } from './store';

export function sealDestination(
  vault: Vault,
  endpoint_id: string,
  type: DestinationType,
  settings: object,
): StoredDestination {
  const secrets = Object.entries(settings).filter(([setting]) => isSecret(type, setting));
  const plain = JSON.stringify(Object.fromEntries(secrets));
  return {
    type,
    settings: withoutSecrets(type, settings),
    credentials:
      secrets.length > 0 ? vault.seal(endpointDestinationIdentity(endpoint_id), plain) : null,
  };
}

/** The destination with its credentials. */
export function openDestination(
  vault: Vault,
  endpoint_id: string,
  { type, settings, credentials }: StoredDestination,
): Destination {
  const plain = credentials && vault.open(endpointDestinationIdentity(endpoint_id), credentials);
  return { type, settings: { ...settings, ...(plain && (JSON.parse(plain) as object)) } };
}

interface ShadowSecrets {
  /** Signs its deliveries. */
  secret: string;
  headers: Record<string, string>;
}

export const sealShadow = (
  vault: Vault,
  partner_id: string,
  shadow_id: string,
  secrets: ShadowSecrets,
): Sealed => vault.seal(shadowIdentity(partner_id, shadow_id), JSON.stringify(secrets));

export const openShadow = (
  vault: Vault,
  partner_id: string,
  shadow_id: string,
  sealed: Sealed,
): ShadowSecrets =>
  JSON.parse(vault.open(shadowIdentity(partner_id, shadow_id), sealed)) as ShadowSecrets;
