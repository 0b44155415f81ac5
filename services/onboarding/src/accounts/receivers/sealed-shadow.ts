// Seals the secret and the headers of a shadow, and opens them again.
import type { Sealed, Vault } from '@bmg/common/vault';
import { shadowIdentity } from '../../ground/partners';

export interface ShadowSecrets {
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
