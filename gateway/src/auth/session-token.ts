// Connect tokens: sent instead of a key, for one connect session, on rows with scope `session`.
import { ApiError } from '@bmg/common/errors';
import { CONNECT_TOKEN_PREFIX, hashKey, isWellFormedKey } from '@bmg/common/keys';
import type { Call, Client } from '@bmg/common/rpc';
import type { LookUps } from './look-ups';
import type { AuthenticateSessionResponse, DirectoryDefinition } from '@bmg/proto/onboarding';

export interface SessionAuthenticator {
  /** Throws for a text that is no connect token. */
  hash(token: string): string;
  /** The token's session; throws once its onboarding can no longer be completed. */
  find(token_hash: string, address: string, call: Call): Promise<AuthenticateSessionResponse>;
}

export const isConnectToken = (text: string): boolean =>
  isWellFormedKey(text, CONNECT_TOKEN_PREFIX);

export const createSessionAuthenticator = (
  directory: Client<DirectoryDefinition>,
  pepper: string,
  look_ups: LookUps,
): SessionAuthenticator => ({
  hash(token) {
    if (isConnectToken(token)) return hashKey(token, pepper);
    throw new ApiError('UNAUTHORIZED', 'x-connect-token is not a valid token');
  },
  find: (token_hash, address, call) =>
    look_ups.run(token_hash, address, () => directory.authenticateSession({ token_hash }, call)),
});
