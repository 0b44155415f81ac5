/** How many people a number may write to first, as the upstream grades it. */
export const limitOf = (tier: string | null): string =>
  tier === null ? '–' : tier === 'UNLIMITED' ? 'no limit' : `${tier.replace('TIER_', '')} a day`;
