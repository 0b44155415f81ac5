// Connect tokens: sent instead of a key, for one connect session, on rows with scope `session`.
import { ApiError } from '@bmg/common/errors';
import { CONNECT_TOKEN_PREFIX, firstKnown, isWellFormedKey, type Peppers } from '@bmg/common/keys';
import type { Call, Client } from '@bmg/common/rpc';
import type { LookUps } from './look-ups';
import type { AuthenticateSessionResponse, DirectoryDefinition } from '@bmg/proto/onboarding';

export type SessionAuthenticator = ReturnType<typeof createSessionAuthenticator>;

export const isConnectToken = (text: string): boolean =>
  isWellFormedKey(text, CONNECT_TOKEN_PREFIX);

export const createSessionAuthenticator = (
  directory: Client<DirectoryDefinition>,
  peppers: Peppers,
  look_ups: LookUps,
) => ({
  /** The hashes under which it may be stored, newest first. Throws for another text. */
  hashes(token: string): [string, ...string[]] {
    if (isConnectToken(token)) return peppers.hashes(token);
    throw new ApiError('UNAUTHORIZED', 'x-connect-token is not a valid token');
  },
  /** The token's session; throws once its onboarding can no longer be completed. */
  find: (
    token_hashes: [string, ...string[]],
    address: string,
    call: Call,
  ): Promise<AuthenticateSessionResponse> =>
    look_ups.run(token_hashes[0], address, () =>
      firstKnown(token_hashes, (token_hash) => directory.authenticateSession({ token_hash }, call)),
    ),
});
