// Security headers of the hosted page: it loads nothing but its own files and the platform's
// script, is never framed and never cached.

/** The sign-up script calls and frames pages of the platform, wherever it was loaded from. */
const PLATFORM = 'https://*.facebook.com';

export function pageHeaders(sdk_url: string): Record<string, string> {
  const sdk = new URL(sdk_url).origin;
  const policy = {
    'default-src': "'none'",
    'script-src': `'self' ${sdk}`,
    'style-src': "'self'",
    'img-src': "'self' data:",
    'connect-src': `'self' ${sdk} ${PLATFORM}`,
    'frame-src': `${sdk} ${PLATFORM}`,
    'frame-ancestors': "'none'",
    'base-uri': "'none'",
    'form-action': "'none'",
  };
  return {
    'Content-Security-Policy': Object.entries(policy)
      .map(([name, value]) => `${name} ${value}`)
      .join('; '),
    'X-Frame-Options': 'DENY',
    // The token is in the address: it must not leak through the referrer or a cache.
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Robots-Tag': 'noindex',
  };
}

/** Headers of the script and the style, whose addresses change with their content. */
export const ASSET_HEADERS = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'X-Content-Type-Options': 'nosniff',
};

/** Headers of a partner's logo: whatever its bytes are, a browser can only display it. */
export const LOGO_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Content-Disposition': 'inline',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
