// Connect tokens: sent instead of a key, for one connect session, on rows with scope `session`.
import { ApiError } from '@bmg/common/errors';
import { CONNECT_TOKEN_PREFIX, firstKnown, isWellFormedKey, type Peppers } from '@bmg/common/keys';
import type { Call, Client } from '@bmg/common/rpc';
import type { LookUps } from './look-ups';
import type { AuthenticateSessionResponse, DirectoryDefinition } from '@bmg/proto/onboarding';

export interface SessionAuthenticator {
  /**
   * The hashes under which it may be stored, the newest first. Throws if the text is not a connect
   * token.
   */
  hashes(token: string): [string, ...string[]];
  /** The token's session; throws once its onboarding can no longer be completed. */
  find(
    token_hashes: [string, ...string[]],
    address: string,
    call: Call,
  ): Promise<AuthenticateSessionResponse>;
}

export const isConnectToken = (text: string): boolean =>
  isWellFormedKey(text, CONNECT_TOKEN_PREFIX);

export const createSessionAuthenticator = (
  directory: Client<DirectoryDefinition>,
  peppers: Peppers,
  look_ups: LookUps,
): SessionAuthenticator => ({
  hashes(token) {
    if (isConnectToken(token)) return peppers.hashes(token);
    throw new ApiError('UNAUTHORIZED', 'x-connect-token is not a valid token');
  },
  find: (token_hashes, address, call) =>
    look_ups.run(token_hashes[0], address, () =>
      firstKnown(token_hashes, (token_hash) => directory.authenticateSession({ token_hash }, call)),
    ),
});
