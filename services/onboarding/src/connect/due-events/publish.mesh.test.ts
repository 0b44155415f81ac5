// Events of registrations, sign-ups, deletions and notices: stored with the change, published once.
import {
  codeRequest,
  failureOf,
  NO_KAFKA,
  peppers,
  refuses,
  sessionOf,
  testCall,
  useWorld,
} from '../../../test/world';
import { createNotice } from '../../ground/partner-notices';
import { restoreAccount } from '../clients';
import { publishDueEvents } from './publish';

const ONE = { waba_id: '900000000000001', phone_number_id: '800000000000001' };
const CLIENT = { ...ONE, phone_number: '15550100001', display_name: 'Example Shop' };
const TOKEN = 'EMULATED-TOKEN-1';

const world = useWorld();
let partner_id: string;
beforeEach(async () => {
  ({ _id: partner_id } = await world.partner());
});

const publish = async (): Promise<void> => {
  while (await publishDueEvents(world.deps));
};
/** All that was published, each with its data. */
const events = async (): Promise<unknown[]> => {
  await publish();
  return world.deps.published.map(({ event, data }) => [event, JSON.parse(data)]);
};
const occurrences = () => new Set(world.deps.published.map(({ occurrence }) => occurrence)).size;
const register = () => world.register(partner_id, { ...ONE, access_token: TOKEN });
const signUp = (code: string, session_id: string) =>
  world.handlers.registerFromCode(codeRequest(partner_id, { code, session_id }));

const NOT_KNOWN = { waba_id: null, phone_number_id: null };

test('a registration and a deletion make one event each, and their repetitions none', async () => {
  await register();
  await register();
  await world.handlers.deleteClient({ partner_id, waba_id: ONE.waba_id });
  await failureOf(world.handlers.deleteClient({ partner_id, waba_id: ONE.waba_id }));
  await publish();
  await register();
  expect(await events()).toEqual([
    ['client.connected', { ...CLIENT, state: null }],
    ['client.removed', CLIENT],
    ['client.connected', { ...CLIENT, state: null }],
  ]);
  expect(world.deps.published[0]).toMatchObject({ partner_id, ...ONE });
  expect(occurrences()).toBe(3);
});

test('a restore reports the client as connected', async () => {
  await register();
  await world.handlers.deleteClient({ partner_id, waba_id: ONE.waba_id });
  await publish();
  await restoreAccount(world.deps, { partner_id, waba_id: ONE.waba_id }, testCall());
  expect((await events()).slice(2)).toEqual([['client.connected', { ...CLIENT, state: null }]]);
});

test('events survive a failed publication, and are published once', async () => {
  await register();
  const failing = publishDueEvents({ ...world.deps, ...NO_KAFKA });
  await expect(failing).rejects.toThrow('unreachable');
  await publish();
  await publish();
  expect(world.deps.published).toHaveLength(1);
});

test('registrations at the same time report one occurrence', async () => {
  await Promise.all([register(), register()]);
  await publish();
  expect(occurrences()).toBe(1);
});

test('a sign-up reports its state, once for a code', async () => {
  const session_id = await sessionOf(world, partner_id, { state: 'order-17' });
  const { code } = await world.emulator.code({ token: TOKEN });
  await signUp(code, session_id);
  await signUp(code, session_id);
  expect(await events()).toEqual([['client.connected', { ...CLIENT, state: 'order-17' }]]);
});

test('a sign-up for a connected number reports its own state', async () => {
  await register();
  const session_id = await sessionOf(world, partner_id, { state: 'order-18' });
  const { code } = await world.emulator.code({ token: TOKEN });
  await signUp(code, session_id);
  expect(await events()).toEqual([
    ['client.connected', { ...CLIENT, state: null }],
    ['client.connected', { ...CLIENT, state: 'order-18' }],
  ]);
});

test('a refused code reports its failure once, without the code', async () => {
  const session_id = await sessionOf(world, partner_id, { state: 'order-19' });
  for (let tries = 0; tries < 2; tries += 1) {
    await refuses(signUp('a-secret-code', session_id), 'CODE_EXCHANGE_FAILED');
    await publish();
  }
  const code = 'CODE_EXCHANGE_FAILED';
  expect(await events()).toEqual([
    ['client.failed', { state: 'order-19', code, message: expect.any(String), ...NOT_KNOWN }],
  ]);
  expect(JSON.stringify(world.deps.published)).not.toContain('a-secret-code');
});

test.each([
  [{ kind: 'dialog_cancelled' }, 'DIALOG_CANCELLED', 'the person left the dialog'],
  [
    { kind: 'dialog_failed', error_code: '123456', error_message: 'Name not allowed' },
    'DIALOG_FAILED',
    'the sign-up dialog failed',
  ],
  [
    { kind: 'page_failed', error_code: 'SCRIPT_BLOCKED', error_message: 'did not load' },
    'SCRIPT_BLOCKED',
    'did not load',
  ],
  [{ kind: 'page_failed', error_code: '<b>' }, 'PAGE_FAILED', 'the page failed'],
])('the report %j becomes the failure %s', async (report, code, message) => {
  const { token } = await world.handlers.createConnectSession({ partner_id, state: 's' });
  const token_hash = peppers.hash(token);
  const send = (facts: object) =>
    world.handlers.reportConnectStep({ token_hash, ...facts } as never);
  await send({ kind: 'dialog_opened' });
  await send(report);
  expect(await events()).toEqual([['client.failed', { state: 's', code, message, ...NOT_KNOWN }]]);
});

test('notices to a partner make an event each, and the latest 20 are kept with it', async () => {
  const at = (n: number) => new Date(Date.now() + n);
  const texts = { subject: 'Receiver down', text: 'It answers 503.', severity: 'info' };
  const notices = Array.from({ length: 21 }, (_none, n) => createNotice(texts, at(n)));
  for (const notice of notices.slice(0, 2)) await world.deps.partners.addNotice(partner_id, notice);
  expect(await events()).toEqual(
    notices.slice(0, 2).map(({ created_at: _at, ...facts }) => ['partner.notice', facts]),
  );
  expect(world.deps.published[0]).toMatchObject({ partner_id, waba_id: undefined });
  for (const notice of notices.slice(2)) await world.deps.partners.addNotice(partner_id, notice);
  const kept = async () => (await world.deps.partners.find(partner_id))?.notices;
  expect(await kept()).toEqual(notices.slice(1));
  const later = createNotice(texts, at(31 * 86_400_000));
  await world.deps.partners.addNotice(partner_id, later);
  expect(await kept()).toEqual([later]);
  expect(await world.deps.partners.addNotice('ptn_none', later)).toBeNull();
});

test('a client that waits for a payment is reported once it is paid', async () => {
  await register();
  const waiting = { billing: 'billing_failed', payment_url: null } as const;
  await world.deps.clients.setBilling(partner_id, new Map([[ONE.waba_id, waiting]]));
  expect(await events()).toEqual([]);
  await world.deps.clients.setBilling(partner_id, new Map());
  expect(await events()).toHaveLength(1);
});
