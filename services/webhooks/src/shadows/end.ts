// The end of a shadow, by itself or by the partner.
import type { Call, Client } from '@bmg/common/rpc';
import type { EndpointRegistryDefinition } from '@bmg/proto/endpoints';
import type { Shadows, ShadowStatus, StoredShadow } from './store';

export interface EndDependencies {
  shadows: Pick<Shadows, 'end'>;
  registry: Pick<Client<EndpointRegistryDefinition>, 'removeShadow'>;
}

/** Ends it at onboarding first, so that no replica sends it anything afterwards. */
export async function endShadow(
  { registry, shadows }: EndDependencies,
  { _id: shadow_id, partner_id, ends_at }: StoredShadow,
  status: ShadowStatus,
  call: Call,
): Promise<void> {
  await registry.removeShadow({ partner_id, shadow_id }, call);
  await shadows.end(shadow_id, status, new Date(Math.min(Date.now(), ends_at.getTime())));
}
