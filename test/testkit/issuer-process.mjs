// An issuer of OpenID Connect, as a process of its own: oidc-provider with its own log-in pages.
// Who signs in as `unverified-ada@example.com` has the address ada@example.com, which the issuer
// has not verified.
import Provider from 'oidc-provider';

const [port, redirect_uri, client_id, client_secret] = process.argv.slice(2);
const UNVERIFIED = 'unverified-';

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id, client_secret, redirect_uris: [redirect_uri] }],
  pkce: { required: () => true },
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  cookies: { keys: ['for tests only'] },
  features: { devInteractions: { enabled: true } },
  findAccount: async (_context, id) => ({
    accountId: id,
    claims: async () => ({
      sub: id,
      email: id.replace(UNVERIFIED, ''),
      email_verified: !id.startsWith(UNVERIFIED),
    }),
  }),
});
provider.listen(Number(port), '127.0.0.1', () => process.send?.('ready'));
