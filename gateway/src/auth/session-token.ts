// A connect token at the edge: it speaks for one connect session, and only where a row says so.
import { ApiError } from '@bmg/common/errors';
import { CONNECT_TOKEN_PREFIX, hashKey, isWellFormedKey } from '@bmg/common/keys';
import type { Call, Client } from '@bmg/common/rpc';
import type { AuthenticateSessionResponse, DirectoryDefinition } from '@bmg/proto/onboarding';

export interface SessionAuthenticator {
  /** Throws unless an onboarding may still be completed under the token. */
  find(token: string, call: Call): Promise<AuthenticateSessionResponse>;
}

export const isConnectToken = (text: string): boolean =>
  isWellFormedKey(text, CONNECT_TOKEN_PREFIX);

export const createSessionAuthenticator = (
  directory: Client<DirectoryDefinition>,
  pepper: string,
): SessionAuthenticator => ({
  async find(token, call) {
    if (!isConnectToken(token)) {
      throw new ApiError('UNAUTHORIZED', 'x-connect-token is not a valid token');
    }
    return directory.authenticateSession({ token_hash: hashKey(token, pepper) }, call);
  },
});
