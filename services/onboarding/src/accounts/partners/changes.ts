// Changes to a partner, made by the operator or by the partner itself: the one home of the rules
// for webhook addresses and secrets. Every change bumps the directory version, so that caches go
// stale.
import { partnerVersionKey, type Versions } from '@bmg/common/directory';
import { checkConnectOrigins } from '../../ground/connect-origins';
import { checkOverlap, overlapping } from '../../ground/overlap';
import { checkPartnerUrl } from '../../ground/partner-url';
import { newWebhookSecret } from '../../ground/webhook-secret';
import {
  noSuchPartner,
  type Partner,
  type PartnerChange,
  partnerOf,
  type Partners,
  type WebhookSecret,
  webhookSecretIdentity,
} from '../../ground/partners';
import type { Vault } from '@bmg/common/vault';
import { setLogo, type LogoDependencies, type LogoOrigin } from './logo';

export interface PartnerChangesDependencies extends LogoDependencies {
  partners: Partners;
  vault: Vault;
  versions: Versions;
  settings: { ALLOW_PRIVATE_URLS: boolean };
  now: () => Date;
}

const SECRETS_MAX = 5;
/** An attempt fails only if another rotation has just succeeded. */
const ROTATE_TRIES_MAX = 5;

export const createPartnerChanges = (deps: PartnerChangesDependencies) => {
  const { partners, vault, versions, settings, now } = deps;

  const bumpVersion = (partner_id: string): Promise<void> =>
    versions.bump([partnerVersionKey(partner_id)]);
  const newSecret = (partner_id: string): { plain: string; stored: WebhookSecret } => {
    const created_at = now();
    const plain = newWebhookSecret();
    const sealed = vault.seal(webhookSecretIdentity(partner_id, created_at), plain);
    return { plain, stored: { sealed, created_at, expires_at: null } };
  };

  return {
    newSecret,
    async change(partner_id: string, fields: PartnerChange): Promise<Partner> {
      const changed = await partners.change(partner_id, fields, now());
      if (!changed) throw noSuchPartner(partner_id);
      await bumpVersion(partner_id);
      return changed;
    },
    /** Returns the change to store. Throws INVALID_FIELD naming `logo_url`. */
    async setLogo(partner_id: string, url: string): Promise<LogoOrigin | null> {
      await partnerOf(partners, partner_id);
      return setLogo(deps, partner_id, url);
    },
    /** Returns the address in its normal form. Throws INVALID_FIELD naming `webhook_url`. */
    checkWebhookUrl(url: string): string {
      const allowPrivate = settings.ALLOW_PRIVATE_URLS;
      return checkPartnerUrl(url, { field: 'webhook_url', allowPrivate }).href;
    },
    /** Returns each origin once. Throws INVALID_FIELD naming the field of the first refused one. */
    checkConnectOrigins: (origins: string[]): string[] =>
      checkConnectOrigins(origins, settings.ALLOW_PRIVATE_URLS),
    /**
     * Returns a new secret, which signs from now on. The earlier ones sign as well until the
     * overlap (in hours) ends. Throws INVALID_FIELD naming `overlap_hours`.
     */
    async rotateWebhookSecret(partner_id: string, overlap_hours: number): Promise<string> {
      checkOverlap(overlap_hours);
      for (let tries = 0; tries < ROTATE_TRIES_MAX; tries += 1) {
        const { webhook_secrets: before } = await partnerOf(partners, partner_id);
        const secret = newSecret(partner_id);
        const after = [secret.stored, ...overlapping(before, now(), overlap_hours)];
        const replaced = await partners.replaceSecrets(
          partner_id,
          { before, after: after.slice(0, SECRETS_MAX) },
          now(),
        );
        if (!replaced) continue;
        await bumpVersion(partner_id);
        return secret.plain;
      }
      throw new Error('failed to rotate the webhook secret: it kept changing');
    },
  };
};
