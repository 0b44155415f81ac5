// Connect tokens: sent instead of a key, for one connect session, on rows with scope `session`.
import { ApiError } from '@bmg/common/errors';
import { CONNECT_TOKEN_PREFIX, hashKey, isWellFormedKey } from '@bmg/common/keys';
import type { Call, Client } from '@bmg/common/rpc';
import type { AuthenticateSessionResponse, DirectoryDefinition } from '@bmg/proto/onboarding';

export interface SessionAuthenticator {
  /** The token's session; throws once its onboarding can no longer be completed. */
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
