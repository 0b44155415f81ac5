// The header with which browsers use HTTPS only, where partners reach the gateway over it.
const A_YEAR_S = 31_536_000;

export const transportHeaders = (public_url: string): Record<string, string> =>
  new URL(public_url).protocol === 'https:'
    ? { 'Strict-Transport-Security': `max-age=${A_YEAR_S}` }
    : {};
