import { EndpointSettings, ShadowSettings } from '@bmg/proto/endpoints';
import { calling, KEYRING, useWorld } from '../../test/world';
import { createReceiverHandlers } from '../accounts/receivers/handlers';
import { createDirectoryHandlers } from '../connect/directory/handlers';
import { rotateKeyring } from './keyring';
import { secretIdentity } from '../ground/clients';
import { webhookSecretIdentity } from '../ground/partners';
import { createVault } from '@bmg/common/vault';

const NEW = 'fresh:Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=';

const world = useWorld();

const NUMBERS = [
  ['900000000000001', '800000000000001', 'EMULATED-TOKEN-1'],
  ['900000000000002', '800000000000002', 'EMULATED-TOKEN-2'],
  ['900000000000002', '800000000000003', 'EMULATED-TOKEN-2'],
] as const;

const firstOf = (partner_id: string) => ({
  partner_id,
  waba_id: NUMBERS[0][0],
  phone_number_id: NUMBERS[0][1],
});

const HEADERS = { 'x-token': 'value' };
const HOOK = { url: 'https://crm.example.com/', headers: { by_name: HEADERS } };
const QUEUE = {
  queue_url: 'https://sqs.example.com/1/events',
  access_key_id: 'id',
  secret_access_key: 'sealed',
};

/** An endpoint, a destination and a shadow; returns the secrets of the first and the last. */
async function withReceivers(partner_id: string) {
  const registry = calling(createReceiverHandlers(world.deps));
  const request = { partner_id, dry_run: false };
  const register = (settings: object) =>
    registry.registerEndpoint({
      ...request,
      settings: EndpointSettings.fromPartial(settings),
      untested: false,
    });
  const { endpoint, secret } = await register(HOOK);
  await register({ destination: { type: 'sqs', settings: QUEUE } });
  const trial = { ...HOOK, url: 'https://new.example.com/', source: 'live', hours: 2 };
  const shadow = await registry.registerShadow({
    ...request,
    shadow_id: 'shd_1',
    settings: ShadowSettings.fromPartial({
      ...trial,
      endpoint_id: endpoint?.endpoint_id as string,
      max_per_second: 20,
    }),
  });
  return { endpoint: secret, shadow: shadow.secret };
}

async function filled() {
  const at = new Date();
  const partner = await world.partner();
  const sealed = world.deps.vault.seal(webhookSecretIdentity(partner._id, at), 'whsec_one');
  await world.deps.partners.change(
    partner._id,
    { webhook_secrets: [{ sealed, created_at: at, expires_at: null }] },
    at,
  );
  for (const [waba_id, phone_number_id, access_token] of NUMBERS) {
    await world.register(partner._id, { waba_id, phone_number_id, access_token });
  }
  const { clients, exchanges, vault } = world.deps;
  const first = firstOf(partner._id);
  await clients.change(first, { pin: vault.seal(secretIdentity(first, 'pin'), '123456') });
  const code = { _id: 'cex_1', partner_id: partner._id };
  await exchanges.claim(code, { holder: 'h', until: at }, at);
  await exchanges.keepToken('cex_1', vault.seal('exchange/cex_1/token', 't'));
  return { partner_id: partner._id, secrets: await withReceivers(partner._id) };
}

async function rotateAll(keyring: string, limit: number) {
  const deps = { ...world.deps, vault: createVault(keyring) };
  let after: string | undefined;
  const total = { rewrapped: 0, unreadable: 0, calls: 0 };
  for (let call = 0; call < 50; call += 1) {
    const done = await rotateKeyring(deps, { after, limit });
    total.rewrapped += done.rewrapped;
    total.unreadable += done.unreadable;
    total.calls += 1;
    after = done.next;
    if (after === undefined) return total;
  }
  throw new Error('the rotation does not end');
}

describe('the rotation of the key ring', () => {
  it('rewraps every secret in bounded batches, so that the old key can be removed', async () => {
    const { partner_id, secrets } = await filled();
    expect(await world.deps.sealedRecords.countStale('fresh')).toBe(7);
    const total = await rotateAll(`${NEW},${KEYRING}`, 2);
    expect(total).toMatchObject({ rewrapped: 10, unreadable: 0 });
    expect(total.calls).toBeGreaterThan(3);
    expect(await world.deps.sealedRecords.countStale('fresh')).toBe(0);

    const vault = createVault(NEW);
    const handlers = calling(createDirectoryHandlers({ ...world.deps, vault }));
    for (const [waba_id, phone_number_id, access_token] of NUMBERS) {
      const scope = { partner_id, waba_id, phone_number_id };
      expect(await handlers.getCredential(scope)).toMatchObject({ access_token });
    }
    expect(await handlers.getPin(firstOf(partner_id))).toEqual({ pin: '123456' });
    const { endpoints, ...receiver } = await handlers.getReceiver({ partner_id });
    expect(receiver).toMatchObject({
      webhook_secrets: ['whsec_one'],
      shadow: { secret: secrets.shadow, headers: HEADERS },
    });
    expect(endpoints).toContainEqual(
      expect.objectContaining({ secrets: [secrets.endpoint], headers: HEADERS }),
    );
    expect(endpoints).toContainEqual(
      expect.objectContaining({
        destination: { type: 'sqs', settings: expect.objectContaining(QUEUE) },
      }),
    );
  });

  it('rewraps nothing the second time', async () => {
    await filled();
    await rotateAll(`${NEW},${KEYRING}`, 100);
    const again = await rotateAll(`${NEW},${KEYRING}`, 100);
    expect(again).toEqual({ rewrapped: 0, unreadable: 0, calls: 1 });
  });

  it('skips a record that no key opens', async () => {
    await filled();
    const [record] = (await world.deps.sealedRecords.stale('fresh', { limit: 1 })).records;
    await world.mongo.db
      .collection<{ _id: string }>('clients')
      .updateOne({ _id: record?._id as string }, { $set: { 'token.key_id': 'lost' } });
    expect(await rotateAll(`${NEW},${KEYRING}`, 2)).toMatchObject({ rewrapped: 9, unreadable: 1 });
  });

  it('does not overwrite a secret that was replaced in the meantime', async () => {
    const { partner_id } = await filled();
    const { records } = await world.deps.sealedRecords.stale('fresh', { limit: 10 });
    const [waba_id, phone_number_id] = NUMBERS[1];
    const scope = { partner_id, waba_id, phone_number_id };
    const record = records.find(({ identity }) => identity === secretIdentity(scope, 'token'));
    const token = world.deps.vault.seal(secretIdentity(scope, 'token'), 'newer');
    await world.deps.clients.change(scope, { token });
    const rewrapped = createVault(`${NEW},${KEYRING}`).rewrap(
      record?.identity as string,
      record?.sealed as never,
    );
    expect(await world.deps.sealedRecords.replace(record as never, rewrapped)).toBe(false);
    const client = await world.deps.clients.find(scope);
    expect(world.deps.vault.open(secretIdentity(scope, 'token'), client?.token as never)).toBe(
      'newer',
    );
  });
});
