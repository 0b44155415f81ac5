// The hosts that may receive the access token: the upstream's own, and UPSTREAM_MEDIA_HOSTS. A
// download URL comes from the upstream, but the token must not go to any host it happens to name.
import { ApiError } from '@bmg/common/errors';

export function createMediaHosts(settings: { UPSTREAM_URL: string; UPSTREAM_MEDIA_HOSTS: string }) {
  const { origin } = new URL(settings.UPSTREAM_URL);
  const hosts = new Set(
    settings.UPSTREAM_MEDIA_HOSTS.split(',').map((host) => host.trim().toLowerCase()),
  );
  const has = (url: URL): boolean =>
    url.origin === origin || (url.protocol === 'https:' && hosts.has(url.host));
  return {
    has,
    /** The parsed URL; throws UPSTREAM_ERROR for any other host. */
    check(text: string): URL {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      if (url && has(url)) return url;
      throw new ApiError(
        'UPSTREAM_ERROR',
        'the upstream returned a download URL on an unknown host',
        {
          cause: new Error(`host ${url?.host ?? 'unreadable'}: see UPSTREAM_MEDIA_HOSTS`),
        },
      );
    },
  };
}

export type MediaHosts = ReturnType<typeof createMediaHosts>;
