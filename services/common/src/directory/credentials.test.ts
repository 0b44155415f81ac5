import { createCredentials, type Credential } from './credentials';

const TARGET = { partner_id: 'p', waba_id: 'w', phone_number_id: 'n', directory_version: 'v1' };
const CREDENTIAL = { access_token: 'token', sending: 'active' } as Credential;

function setUp(credential: Credential | undefined) {
  const getCredentials = jest.fn(async () => ({ found: [{ credential }] }));
  const credentials = createCredentials({ getCredentials }, { current: async () => undefined });
  return { getCredentials, of: () => credentials.of(TARGET, {} as never) };
}

test('looks up a credential in a batch of one, and caches it', async () => {
  const { getCredentials, of } = setUp(CREDENTIAL);
  expect([await of(), await of()]).toEqual([CREDENTIAL, CREDENTIAL]);
  const scope = { partner_id: 'p', waba_id: 'w', phone_number_id: 'n' };
  expect(getCredentials.mock.calls).toEqual([[{ scopes: [scope] }, {}]]);
});

test('refuses a number without an active client, and looks it up again', async () => {
  const { getCredentials, of } = setUp(undefined);
  for (let time = 0; time < 2; time += 1) {
    await expect(of()).rejects.toMatchObject({
      code: 'WABA_NOT_REGISTERED',
      message: 'x-waba-id names no business account registered with you',
    });
  }
  expect(getCredentials).toHaveBeenCalledTimes(2);
});
