// Changes to a partner, made by the operator or by the partner itself: the one home of the rules
// for webhook addresses and secrets. Every change bumps the directory version, so that caches go
// stale.
import { checkPartnerUrl } from '../../ground/partner-url';
import {
  checkOverlap,
  newWebhookSecret,
  rotate,
  rotatedSecrets,
} from '../../ground/webhook-secret';
import {
  bumpPartner,
  noSuchPartner,
  type Partner,
  type PartnerChange,
  partnerOf,
  type WebhookSecret,
  webhookSecretIdentity,
} from '../../ground/partners';
import { setLogo, type LogoOrigin } from './logo';
import type { Config } from '../../config';
import type { Dependencies } from '../../dependencies';

/** Returns the address in its normal form; an empty one removes it. Throws INVALID_FIELD. */
export const checkWebhookUrl = (
  url: string,
  { ALLOW_PRIVATE_URLS: allowPrivate }: Pick<Config, 'ALLOW_PRIVATE_URLS'>,
): string | null =>
  url === '' ? null : checkPartnerUrl(url, { field: 'webhook_url', allowPrivate }).href;

export const createPartnerChanges = (deps: Dependencies) => {
  const { partners, vault, now } = deps;

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
      await bumpPartner(deps, partner_id);
      return changed;
    },
    /** Returns the change to store. Throws INVALID_FIELD naming `logo_url`. */
    async setLogo(partner_id: string, url: string): Promise<LogoOrigin | null> {
      await partnerOf(partners, partner_id);
      return setLogo(deps, partner_id, url);
    },
    /**
     * Returns a new secret, which signs from now on. The earlier ones sign as well until the
     * overlap (in hours) ends. Throws INVALID_FIELD naming `overlap_hours`.
     */
    async rotateWebhookSecret(partner_id: string, overlap_hours: number): Promise<string> {
      checkOverlap(overlap_hours);
      const plain = await rotate('the webhook secret', async () => {
        const partner = await partnerOf(partners, partner_id);
        const secret = newSecret(partner_id);
        const { webhook_secrets: earlier } = partner;
        const secrets = rotatedSecrets(secret.stored, earlier, overlap_hours, now());
        const is_replaced = await partners.replaceSecrets(partner, secrets, now());
        return is_replaced ? secret.plain : undefined;
      });
      await bumpPartner(deps, partner_id);
      return plain;
    },
  };
};
