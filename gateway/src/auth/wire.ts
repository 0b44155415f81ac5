// Builds the identification of callers: by key, by connect token, and by the number that they act
// on.
import { createPeppers } from '@bmg/common/keys';
import type { Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { Load } from '../limits/load';
import { createAuthenticator } from './authenticate';
import { createHashRenewal } from './hash-renewal';
import { createLookUps } from './look-ups';
import { createScopeResolver } from './scope';
import { createSessionAuthenticator } from './session-token';

export type Auth = ReturnType<typeof wireAuth>;

export function wireAuth(
  directory: Client<DirectoryDefinition>,
  pepper: string,
  { load, log }: { load: Load; log: Logger },
) {
  const peppers = createPeppers(pepper);
  const look_ups = createLookUps(load);
  const renewal = createHashRenewal(directory, log);
  return {
    peppers,
    look_ups,
    renewal,
    authenticator: createAuthenticator(directory, peppers, look_ups, renewal),
    sessions: createSessionAuthenticator(directory, peppers, look_ups),
    scope: createScopeResolver(directory),
  };
}
