// Facts about the sending number: whether its token works, and how many customers it may still
// write to.
import { upstreamRefusal, type Reason } from '@bmg/common/preflight';
import type { Credential } from '@bmg/common/directory';
import { peopleOfTier } from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';
import type { Needs, Dependencies } from '../dependencies';

export type NumberSources = Needs<{ messages: 'countTemplateRecipients'; refusedTokens: 'has' }> &
  Pick<Dependencies, 'log'>;

const DAY_MS = 86_400_000;

export async function tokenReasons(
  { refusedTokens }: NumberSources,
  target: Target,
  { access_token }: Credential,
): Promise<Reason[]> {
  const dead = await refusedTokens.has(target, access_token);
  return dead ? [upstreamRefusal(190, 'the upstream refused the token of this number')] : [];
}

/** `used` is null if it cannot be counted now, `limit` if it is unlimited or not known. */
export async function messagingLimitOf(
  { messages, log }: NumberSources,
  target: Target,
  { messaging_limit_tier: tier }: Credential,
  now: Date,
) {
  const since = new Date(now.getTime() - DAY_MS);
  const used = await messages.countTemplateRecipients(target, since).catch((error: unknown) => {
    log.warn({ err: error }, 'failed to count the customers of a number');
    return null;
  });
  const limit = peopleOfTier(tier) ?? null;
  const left = limit === null || used === null ? null : Math.max(0, limit - used);
  return { tier: tier ?? null, limit, used, left };
}

export type MessagingLimit = Awaited<ReturnType<typeof messagingLimitOf>>;
