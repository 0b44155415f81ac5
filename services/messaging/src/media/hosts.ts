// The hosts that may receive the access token: the upstream's own, and UPSTREAM_MEDIA_HOSTS. A download URL
// comes from the upstream, but the token must not go to any host it happens to name.
import { ApiError } from '@bmg/common/errors';

export interface MediaHosts {
  has(url: URL): boolean;
  /** The parsed URL; throws UPSTREAM_ERROR for any other host. */
  check(url: string): URL;
}

export function createMediaHosts(settings: {
  UPSTREAM_URL: string;
  UPSTREAM_MEDIA_HOSTS: string;
}): MediaHosts {
  const { origin } = new URL(settings.UPSTREAM_URL);
  const hosts = new Set(
    settings.UPSTREAM_MEDIA_HOSTS.split(',').map((host) => host.trim().toLowerCase()),
  );
  const has = (url: URL): boolean =>
    url.origin === origin || (url.protocol === 'https:' && hosts.has(url.host));
  return {
    has,
    check(text) {
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
