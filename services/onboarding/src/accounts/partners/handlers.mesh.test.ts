// The partner's console on a fake clock: sessions, profile settings, webhook secret.
import { randomBytes } from 'node:crypto';
import { guardedAgent } from '@bmg/common/outbound';
import type { Handlers } from '@bmg/common/rpc';
import type { OperatorDefinition } from '@bmg/proto/onboarding';
import type { SettingsDefinition } from '@bmg/proto/settings';
import { useLocalServers } from '../../../../common/test/local-servers';
import { calling, type Calling, failureOf, peppers, refuses, useWorld } from '../../../test/world';
import { createOperatorHandlers } from '../../operator/handlers';
import { createDashboardHandlers } from './handlers';
import { DASHBOARD_SESSIONS } from '../sessions/store';
import { PARTNERS, type Partner } from '../../ground/partners';

const MINUTE_S = 60;
const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100)]);
/** The test's pictures are on this machine. */
const agent = guardedAgent({ allowPrivate: true });
afterAll(() => agent.destroy());

const world = useWorld();
let own: Calling<Handlers<SettingsDefinition>>;
let support: Calling<Handlers<OperatorDefinition>>;
let partner: Partner;
let partner_id: string;

beforeEach(async () => {
  const deps = { ...world.deps, agent };
  own = calling(createDashboardHandlers(deps));
  support = calling(createOperatorHandlers(deps));
  partner = await world.partner({ name: 'Acme' });
  partner_id = partner._id;
});

/** Like the gateway: with hashes only. */
async function logIn({ key_hash } = partner): Promise<string> {
  const token_hash = peppers.hash(randomBytes(32).toString('base64url'));
  await own.openSession({ key_hash, token_hash });
  return token_hash;
}
const use = (token_hash: string, passive = false) =>
  own.useSession({ token_hash, passive, people: true });
const codeOf = async (work: Promise<unknown>): Promise<string> => (await failureOf(work)).code;
const stored = () => world.deps.partners.find(partner_id);
const kept = (): Promise<number> => world.mongo.db.collection(DASHBOARD_SESSIONS).countDocuments();

describe('a session', () => {
  it('belongs to the partner whose key opened it, for at most eight hours of use', async () => {
    const token = await logIn();
    const first = await use(token);
    expect(first).toMatchObject({ partner_id, partner_name: 'Acme' });
    for (let minutes = 20; minutes < 8 * 60; minutes += 20) {
      world.passTime(20 * MINUTE_S);
      expect((await use(token)).partner_id).toBe(partner_id);
    }
    world.passTime(20 * MINUTE_S);
    expect(await codeOf(use(token))).toBe('UNAUTHORIZED');
    expect(await kept()).toBe(0);
  });

  it('is listed for its own partner only, and all of them can be ended at once', async () => {
    const other = await logIn(await world.partner());
    await logIn();
    world.passTime(MINUTE_S);
    const token = await logIn();
    const list = () => own.listSessions({ partner_id, token_hash: token });
    expect((await list()).sessions.map(({ current }) => current)).toEqual([true, false]);
    world.passTime(29.5 * MINUTE_S);
    expect((await list()).sessions).toMatchObject([{ current: true }]);
    expect(await codeOf(use(other))).toBe('UNAUTHORIZED');
    const kept_one = await logIn(await world.partner());
    await own.closeAllSessions({ partner_id });
    expect(await codeOf(use(token))).toBe('UNAUTHORIZED');
    expect((await use(kept_one)).partner_id).not.toBe(partner_id);
  });

  it('ends half an hour after its last use, whatever its user did not cause meanwhile', async () => {
    const token = await logIn();
    world.passTime(29 * MINUTE_S);
    await use(token);
    for (const minutes of [10, 15]) {
      world.passTime(minutes * MINUTE_S);
      await use(token, true);
    }
    world.passTime(6 * MINUTE_S);
    expect(await codeOf(use(token, true))).toBe('UNAUTHORIZED');
    expect(await kept()).toBe(0);
  });

  it('ends when it is closed, and other sessions do not', async () => {
    const [one, other] = [await logIn(), await logIn()];
    await own.closeSession({ token_hash: one });
    expect(await codeOf(use(one))).toBe('UNAUTHORIZED');
    expect((await use(other)).partner_id).toBe(partner_id);
  });

  it('ends with a rotation of the key, as do the partner’s other sessions', async () => {
    const stranger = await world.partner();
    const tokens = [await logIn(), await logIn()];
    const foreign = await logIn(stranger);
    await support.rotateKey({ partner_id });
    for (const token of tokens) expect(await codeOf(use(token))).toBe('UNAUTHORIZED');
    expect((await use(foreign)).partner_id).toBe(stranger._id);
    expect(await codeOf(logIn())).toBe('INVALID_PARTNER_KEY');
  });

  it('ends with a rotation that failed to delete it', async () => {
    const token = await logIn();
    await world.deps.partners.change(partner_id, { key_hash: 'another' }, new Date());
    expect(await codeOf(use(token))).toBe('UNAUTHORIZED');
  });

  it('ends with a suspension, and does not come back when the partner is active again', async () => {
    const token = await logIn();
    const turn = (status: string) => support.updatePartner({ partner_id, status });
    await turn('suspended');
    expect(await codeOf(use(token))).toBe('UNAUTHORIZED');
    expect(await codeOf(logIn())).toBe('PARTNER_SUSPENDED');
    await turn('active');
    expect(await codeOf(use(token))).toBe('UNAUTHORIZED');
    expect((await use(await logIn())).partner_id).toBe(partner_id);
  });

  it('of an inactive partner answers the status’s error once, then UNAUTHORIZED', async () => {
    const token = await logIn();
    await world.deps.partners.change(partner_id, { status: 'trial_expired' }, new Date());
    expect(await codeOf(use(token))).toBe('TRIAL_EXPIRED');
    expect(await codeOf(use(token))).toBe('UNAUTHORIZED');
  });

  it('is not opened by an unknown key', async () => {
    const asked = own.openSession({ key_hash: 'unknown', token_hash: 'any' });
    expect(await codeOf(asked)).toBe('INVALID_PARTNER_KEY');
    expect(await kept()).toBe(0);
  });
});

describe('the settings', () => {
  const SECRETS = /whsec_|wrapped_key|key_hash/;

  it('show the plan and no secret', async () => {
    const { _id } = await world.partner({
      name: 'Acme',
      max_wabas: 5,
      wabas: ['1', '2', '3', '4'],
      months: { [new Date().toISOString().slice(0, 7)]: { peak: 4, last: 4 } },
      rate_limit_per_sec: 7,
    });
    const shown = await own.getSettings({ partner_id: _id });
    expect(shown).toMatchObject({
      partner_id: _id,
      name: 'Acme',
      status: 'active',
      rate_limit_per_sec: 7,
      key_hint: 'bmgk_…0000',
      plan: { max_wabas: 5, active_wabas: 4, slots: 2 },
    });
    expect(shown.webhook_url).toBeUndefined();
    expect(JSON.stringify(shown)).not.toMatch(SECRETS);
  });

  const URL = 'https://partner.example.com/hook';
  const [SHOP, OTHER] = ['https://a.example.com', 'https://b.example.com'] as const;
  const url = (webhook_url: string) => ({ webhook_url });
  const events = (...names: string[]) => ({ extra_events: { names } });
  const origins = (...origins: string[]) => ({ connect_origins: { origins } });
  const CALLS = ['call.connect', 'call.status'] as const;

  it.each([
    {
      field: 'webhook_url',
      given: url(URL),
      value: URL,
      wrong: [url('https://10.0.0.1/hook')],
      named: 'webhook_url',
      empty: [url(''), null],
    },
    {
      field: 'extra_events',
      given: events(...CALLS, CALLS[0]),
      value: CALLS,
      wrong: ['message.received', 'call.*', 'call.unknown'].map((one) => events(CALLS[1], one)),
      named: 'extra_events[1]',
      empty: [events(), []],
    },
    {
      field: 'connect_origins',
      given: origins(SHOP, OTHER, SHOP),
      value: [SHOP, OTHER],
      wrong: [origins(OTHER, `${SHOP}/path`)],
      named: 'connect_origins[1]',
      empty: [origins(), []],
    },
  ] as const)(
    'accept a $field once, make caches stale, keep it if another is refused, and remove it',
    async ({ field, given, value, wrong, named, empty: [none, removed] }) => {
      const set = (change: object) => own.updateSettings({ partner_id, alerts: {}, ...change });
      expect((await set(given))[field]).toEqual(value);
      expect(world.deps.bumped.join()).toContain(partner_id);
      for (const one of wrong) await refuses(set(one), 'INVALID_FIELD', named);
      expect((await stored())?.[field]).toEqual(value);
      expect((await set(none))[field] ?? null).toEqual(removed);
      expect((await stored())?.[field]).toEqual(removed);
    },
  );
});

describe('the contacts', () => {
  it('are changed one by one, by the partner and by the operator', async () => {
    const given = (contacts: object) => ({ partner_id, contacts, alerts: {} });
    await own.updateSettings(given({ technical: 'ops@partner.example' }));
    const both = await support.updatePartner(given({ billing: 'bills@partner.example' }));
    expect(both.contacts).toEqual({
      technical: 'ops@partner.example',
      billing: 'bills@partner.example',
    });
    const wrong = own.updateSettings(given({ technical: '', billing: 'bills' }));
    expect(await failureOf(wrong)).toMatchObject({ details: { field: 'contacts.billing' } });
    expect((await own.getSettings({ partner_id })).contacts).toEqual(both.contacts);
    const removed = await own.updateSettings(given({ technical: '' }));
    expect(removed.contacts).toEqual({ technical: undefined, billing: 'bills@partner.example' });
  });
});

describe('the webhook secret', () => {
  const rotate = async (overlap_hours = 24): Promise<string> =>
    (await own.rotateWebhookSecret({ partner_id, overlap_hours })).webhook_secret;
  const reveal = async (): Promise<string> =>
    (await own.revealWebhookSecret({ partner_id })).webhook_secret;
  /** The secrets that deliveries are signed with. */
  const signing = async (): Promise<string[]> => {
    const { getReceiver, getReceivers } = world.handlers;
    const receiver = await getReceiver({ partner_id });
    const partner_ids = ['prt_unknown', partner_id];
    const { receivers } = await getReceivers({ partner_ids });
    expect(receivers).toEqual({ [partner_id]: receiver });
    return receiver.webhook_secrets;
  };

  it('is revealed unchanged, and is never stored in the clear', async () => {
    expect(await codeOf(reveal())).toBe('NOT_FOUND');
    const secret = await rotate();
    expect(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32);
    expect(await reveal()).toBe(secret);
    expect(await signing()).toEqual([secret]);
    const stored = await world.mongo.db.collection(PARTNERS).findOne({ _id: partner_id as never });
    expect(JSON.stringify(stored)).not.toContain(secret.slice('whsec_'.length));
  });

  it('signs beside the previous one until the overlap ends, if there is one', async () => {
    const old = await rotate();
    world.passTime(1);
    const fresh = await rotate(2);
    expect(await reveal()).toBe(fresh);
    expect(await signing()).toEqual([fresh, old]);
    const during = await own.getSettings({ partner_id });
    expect(during.webhook_secret?.previous_expires_at).toBeInstanceOf(Date);
    world.passTime(2 * 3_600 + 1);
    expect(await signing()).toEqual([fresh]);
    const after = await own.getSettings({ partner_id });
    expect(after.webhook_secret?.previous_expires_at).toBeUndefined();
    const only = await rotate(0);
    expect(await signing()).toEqual([only]);
  });

  it('signs for every one of several concurrent rotations', async () => {
    await rotate();
    const answered = await Promise.all([1, 2, 3, 4].map(() => rotate()));
    expect(await signing()).toEqual(expect.arrayContaining(answered));
  });

  it('refuses an overlap that is not a whole number of hours up to 30 days', async () => {
    for (const hours of [-1, 721, 0.5]) {
      await refuses(rotate(hours), 'INVALID_FIELD', 'overlap_hours');
    }
  });
});

describe('the logo of the sign-up page', () => {
  const FILES: Record<string, [status: number, body: Buffer]> = {
    '/logo.png': [200, PNG],
    '/logo.jpg': [200, Buffer.from('\xff\xd8\xff\xe0 and more', 'latin1')],
    '/logo.webp': [200, Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1')],
    '/logo.svg': [200, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    '/page.png': [200, Buffer.from('<script>alert(1)</script>')],
    '/large.png': [200, Buffer.concat([PNG, Buffer.alloc(256 * 1024)])],
    '/none.png': [404, PNG],
  };
  const { http } = useLocalServers();
  let origin: string;
  beforeEach(async () => {
    origin = await http(({ url = '' }, response) => {
      const [status, body] = FILES[url] ?? [500, ''];
      response.writeHead(status, { 'content-type': 'image/png' }).end(body);
    });
  });
  const setLogo = (logo_url: string) => own.updateSettings({ partner_id, alerts: {}, logo_url });

  test.each([
    ['/logo.png', 'image/png'],
    ['/logo.jpg', 'image/jpeg'],
    ['/logo.webp', 'image/webp'],
  ])('is fetched once, from %s, and kept with the type of its bytes', async (path, type) => {
    const { logo_url, logo_id } = await setLogo(origin + path);
    expect(logo_url).toBe(origin + path);
    expect(await world.deps.partnerLogos.find(logo_id as string)).toEqual({
      partner_id,
      logo_id,
      type,
      data: FILES[path]?.[1],
    });
  });

  test('is replaced and removed, by the operator too', async () => {
    const { logo_id } = await setLogo(`${origin}/logo.png`);
    const other = { logo_url: `${origin}/logo.jpg` };
    const updated = await support.updatePartner({ partner_id, ...other });
    expect(updated).toMatchObject(other);
    expect(await world.deps.partnerLogos.find(logo_id as string)).toBeNull();
    const { logo_id: second } = await own.getSettings({ partner_id });
    expect(await world.deps.partnerLogos.find(second as string)).not.toBeNull();
    expect((await setLogo('')).logo_id).toBeUndefined();
    expect(await world.deps.partnerLogos.find(second as string)).toBeNull();
  });

  test.each([
    ['/logo.svg', 'is not a PNG, JPEG or WebP picture'],
    ['/page.png', 'is not a PNG, JPEG or WebP picture'],
    ['/large.png', 'is larger than 256 KiB'],
    ['/none.png', 'did not answer with a picture'],
  ])('is refused, and changes nothing: %s', async (path, reason) => {
    const { logo_id } = await setLogo(`${origin}/logo.png`);
    expect(await failureOf(setLogo(origin + path))).toMatchObject({
      code: 'INVALID_FIELD',
      message: `logo_url ${reason}`,
    });
    expect((await own.getSettings({ partner_id })).logo_id).toBe(logo_id);
  });
});
