// Builds what identifies callers: by key, by connect token, and by the number that they act on.
import type { Client } from '@bmg/common/rpc';
import type { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { Load } from '../limits/load';
import { createAuthenticator } from './authenticate';
import { createLookUps } from './look-ups';
import { createScopeResolver } from './scope';
import { createSessionAuthenticator } from './session-token';

export type Auth = ReturnType<typeof wireAuth>;

export function wireAuth(directory: Client<DirectoryDefinition>, pepper: string, load: Load) {
  const look_ups = createLookUps(load);
  return {
    look_ups,
    authenticator: createAuthenticator(directory, pepper, look_ups),
    sessions: createSessionAuthenticator(directory, pepper, look_ups),
    scope: createScopeResolver(directory),
  };
}
