// Which addresses may be shown the token: the upstream's own, and the hosts from which it hands out files.
// The address of a medium comes from an answer of the upstream, and is nevertheless not simply believed.
import { ApiError } from '@bmg/common/errors';

export interface MediaHosts {
  /** The address, parsed; throws for one that is not to be asked. */
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
  return {
    check(text) {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      const own = url?.origin === origin || (url?.protocol === 'https:' && hosts.has(url.host));
      if (url && own) return url;
      throw new ApiError(
        'UPSTREAM_ERROR',
        'the upstream named a place for the file that is not its own',
        {
          cause: new Error(`host ${url?.host ?? 'unreadable'}: see UPSTREAM_MEDIA_HOSTS`),
        },
      );
    },
  };
}
