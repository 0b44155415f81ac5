// The partner's console on a fake clock: sessions, profile settings, webhook secret.
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { guardedAgent } from '@bmg/common/outbound';
import { createPool } from '@bmg/common/overload';
import type { Handlers } from '@bmg/common/rpc';
import type { OperatorDefinition } from '@bmg/proto/onboarding';
import type { SettingsDefinition } from '@bmg/proto/settings';
import { calling, type Calling, failureOf, peppers, refuses, useWorld } from '../../../test/world';
import { createOperatorHandlers } from '../../operator/handlers';
import { createDashboardHandlers } from './handlers';
import { DASHBOARD_SESSIONS } from '../sessions/store';
import { PARTNERS, type Partner } from '../../ground/partners';

const MINUTE_S = 60;
const LOGO_FETCHES = { server: 'test', reason: 'logos', holder: 'partner', max: 8 } as const;
const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100)]);
/** The test's pictures are on this machine. */
const agent = guardedAgent({ allowPrivate: true });
afterAll(() => agent.destroy());

const world = useWorld();
let own: Calling<Handlers<SettingsDefinition>>;
let support: Calling<Handlers<OperatorDefinition>>;

beforeEach(async () => {
  const rules = { ...world.deps.settings, RATE_LIMIT_PER_SEC: 200, ALLOW_PRIVATE_URLS: false };
  const deps = { ...world.deps, agent, logoFetches: createPool(LOGO_FETCHES, world.deps.log) };
  own = calling(createDashboardHandlers({ ...deps, settings: rules }));
  support = calling(createOperatorHandlers({ ...deps, settings: rules }));
});

/** Like the gateway: with hashes only. */
async function logIn(partner: Partner): Promise<string> {
  const token_hash = peppers.hash(randomBytes(32).toString('base64url'));
  await own.openSession({ key_hash: partner.key_hash, token_hash });
  return token_hash;
}
const use = (token_hash: string, passive = false) =>
  own.useSession({ token_hash, passive, people: true });
const codeOf = async (work: Promise<unknown>): Promise<string> => (await failureOf(work)).code;
const kept = (): Promise<number> => world.mongo.db.collection(DASHBOARD_SESSIONS).countDocuments();

describe('a session', () => {
  it('belongs to the partner whose key opened it, for at most eight hours of use', async () => {
    const partner = await world.partner({ name: 'Acme' });
    const token = await logIn(partner);
    const first = await use(token);
    expect(first).toMatchObject({ partner_id: partner._id, partner_name: 'Acme' });
    for (let minutes = 20; minutes < 8 * 60; minutes += 20) {
      world.passTime(20 * MINUTE_S);
      expect((await use(token)).partner_id).toBe(partner._id);
    }
    world.passTime(20 * MINUTE_S);
    expect(await codeOf(use(token))).toBe('UNAUTHORIZED');
    expect(await kept()).toBe(0);
  });

  it('is listed for its own partner only, and all of them can be ended at once', async () => {
    const partner = await world.partner();
    const { _id: partner_id } = partner;
    const other = await logIn(await world.partner());
    await logIn(partner);
    world.passTime(MINUTE_S);
    const token = await logIn(partner);
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
    const token = await logIn(await world.partner());
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
    const partner = await world.partner();
    const [one, other] = [await logIn(partner), await logIn(partner)];
    await own.closeSession({ token_hash: one });
    expect(await codeOf(use(one))).toBe('UNAUTHORIZED');
    expect((await use(other)).partner_id).toBe(partner._id);
  });

  it('ends with a rotation of the key, as do the partner’s other sessions', async () => {
    const [partner, stranger] = [await world.partner(), await world.partner()];
    const tokens = [await logIn(partner), await logIn(partner)];
    const foreign = await logIn(stranger);
    await support.rotateKey({ partner_id: partner._id });
    for (const token of tokens) expect(await codeOf(use(token))).toBe('UNAUTHORIZED');
    expect((await use(foreign)).partner_id).toBe(stranger._id);
    expect(await codeOf(logIn(partner))).toBe('INVALID_PARTNER_KEY');
  });

  it('ends with a rotation that failed to delete it', async () => {
    const partner = await world.partner();
    const token = await logIn(partner);
    await world.deps.partners.change(partner._id, { key_hash: 'another' }, new Date());
    expect(await codeOf(use(token))).toBe('UNAUTHORIZED');
  });

  it('ends with a suspension, and does not come back when the partner is active again', async () => {
    const partner = await world.partner();
    const token = await logIn(partner);
    const turn = (status: string) => support.updatePartner({ partner_id: partner._id, status });
    await turn('suspended');
    expect(await codeOf(use(token))).toBe('UNAUTHORIZED');
    expect(await codeOf(logIn(partner))).toBe('PARTNER_SUSPENDED');
    await turn('active');
    expect(await codeOf(use(token))).toBe('UNAUTHORIZED');
    expect((await use(await logIn(partner))).partner_id).toBe(partner._id);
  });

  it('of an inactive partner answers the status’s error once, then UNAUTHORIZED', async () => {
    const partner = await world.partner();
    const token = await logIn(partner);
    await world.deps.partners.change(partner._id, { status: 'trial_expired' }, new Date());
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

  const setUrl = (partner_id: string, webhook_url: string) =>
    own.updateSettings({ partner_id, webhook_url, alerts: {} });

  it('accept and remove a public HTTPS webhook address, and make caches stale', async () => {
    const { _id } = await world.partner();
    const url = 'https://partner.example.com/hook';
    expect((await setUrl(_id, url)).webhook_url).toBe(url);
    expect(world.deps.bumped.join()).toContain(_id);
    expect((await setUrl(_id, '')).webhook_url).toBeUndefined();
    expect((await world.deps.partners.find(_id))?.webhook_url).toBeNull();
  });

  it('keep each extra event of the webhook URL once, make caches stale, and remove them', async () => {
    const { _id } = await world.partner();
    const set = (names: string[]) =>
      own.updateSettings({ partner_id: _id, alerts: {}, extra_events: { names } });
    expect(await set(['call.connect', 'call.status', 'call.connect'])).toMatchObject({
      extra_events: ['call.connect', 'call.status'],
    });
    expect(world.deps.bumped.join()).toContain(_id);
    expect((await set([])).extra_events).toEqual([]);
  });

  it('list origins of the sign-up, and keep them if one is refused', async () => {
    const { _id } = await world.partner();
    const set = (...origins: string[]) =>
      own.updateSettings({ partner_id: _id, alerts: {}, connect_origins: { origins } });
    const [one, other] = ['https://a.example.com', 'https://b.example.com'] as const;
    expect(await set(one, other, one)).toMatchObject({ connect_origins: [one, other] });
    await refuses(set(other, `${one}/path`), 'INVALID_FIELD', 'connect_origins[1]');
    expect((await world.deps.partners.find(_id))?.connect_origins).toEqual([one, other]);
    expect((await set()).connect_origins).toEqual([]);
  });

  it('refuse any other event as an extra event, and keep what there is', async () => {
    const { _id } = await world.partner({ extra_events: ['call.connect'] });
    for (const name of ['message.received', 'call.*', 'call.unknown']) {
      const extra_events = { names: ['call.status', name] };
      const set = own.updateSettings({ partner_id: _id, alerts: {}, extra_events });
      await refuses(set, 'INVALID_FIELD', 'extra_events[1]');
    }
    expect((await world.deps.partners.find(_id))?.extra_events).toEqual(['call.connect']);
  });

  it('refuse a private webhook address and keep the old one', async () => {
    const { _id } = await world.partner({ webhook_url: 'https://old.example.com/' });
    await refuses(setUrl(_id, 'https://10.0.0.1/hook'), 'INVALID_FIELD', 'webhook_url');
    expect((await world.deps.partners.find(_id))?.webhook_url).toBe('https://old.example.com/');
  });
});

describe('the contacts', () => {
  it('are changed one by one, by the partner and by the operator', async () => {
    const { _id: partner_id } = await world.partner();
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
  const rotate = async (partner_id: string, overlap_hours = 24): Promise<string> =>
    (await own.rotateWebhookSecret({ partner_id, overlap_hours })).webhook_secret;
  const reveal = async (partner_id: string): Promise<string> =>
    (await own.revealWebhookSecret({ partner_id })).webhook_secret;
  /** The secrets that deliveries are signed with. */
  const signing = async (partner_id: string): Promise<string[]> => {
    const { getReceiver, getReceivers } = world.handlers;
    const receiver = await getReceiver({ partner_id });
    const partner_ids = ['prt_unknown', partner_id];
    const { receivers } = await getReceivers({ partner_ids });
    expect(receivers).toEqual({ [partner_id]: receiver });
    return receiver.webhook_secrets;
  };

  it('is revealed unchanged, and is never stored in the clear', async () => {
    const { _id } = await world.partner();
    expect(await codeOf(reveal(_id))).toBe('NOT_FOUND');
    const secret = await rotate(_id);
    expect(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32);
    expect(await reveal(_id)).toBe(secret);
    expect(await signing(_id)).toEqual([secret]);
    const stored = await world.mongo.db.collection(PARTNERS).findOne({ _id: _id as never });
    expect(JSON.stringify(stored)).not.toContain(secret.slice('whsec_'.length));
  });

  it('signs beside the previous one until the overlap ends, if there is one', async () => {
    const { _id } = await world.partner();
    const old = await rotate(_id);
    world.passTime(1);
    const fresh = await rotate(_id, 2);
    expect(await reveal(_id)).toBe(fresh);
    expect(await signing(_id)).toEqual([fresh, old]);
    const during = await own.getSettings({ partner_id: _id });
    expect(during.webhook_secret?.previous_expires_at).toBeInstanceOf(Date);
    world.passTime(2 * 3_600 + 1);
    expect(await signing(_id)).toEqual([fresh]);
    const after = await own.getSettings({ partner_id: _id });
    expect(after.webhook_secret?.previous_expires_at).toBeUndefined();
    const only = await rotate(_id, 0);
    expect(await signing(_id)).toEqual([only]);
  });

  it('signs for every one of several concurrent rotations', async () => {
    const { _id } = await world.partner();
    await rotate(_id);
    const answered = await Promise.all(Array.from({ length: 4 }, () => rotate(_id)));
    expect(await signing(_id)).toEqual(expect.arrayContaining(answered));
  });

  it('refuses an overlap that is not a whole number of hours up to 30 days', async () => {
    const { _id } = await world.partner();
    for (const hours of [-1, 721, 0.5]) {
      await refuses(rotate(_id, hours), 'INVALID_FIELD', 'overlap_hours');
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
  let pictures: Server;
  let origin: string;
  beforeAll(async () => {
    pictures = createServer(({ url = '' }, response) => {
      const [status, body] = FILES[url] ?? [500, ''];
      response.writeHead(status, { 'content-type': 'image/png' }).end(body);
    });
    await new Promise<void>((resolve) => pictures.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(pictures.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    pictures.closeAllConnections();
    await new Promise((resolve) => pictures.close(resolve));
  });
  const setLogo = (partner_id: string, logo_url: string) =>
    own.updateSettings({ partner_id, alerts: {}, logo_url });

  test.each([
    ['/logo.png', 'image/png'],
    ['/logo.jpg', 'image/jpeg'],
    ['/logo.webp', 'image/webp'],
  ])('is fetched once, from %s, and kept with the type of its bytes', async (path, type) => {
    const { _id } = await world.partner();
    const { logo_url, logo_id } = await setLogo(_id, origin + path);
    expect(logo_url).toBe(origin + path);
    expect(await world.deps.partnerLogos.find(logo_id as string)).toEqual({
      partner_id: _id,
      logo_id,
      type,
      data: FILES[path]?.[1],
    });
  });

  test('is replaced and removed, by the operator too', async () => {
    const { _id } = await world.partner();
    const { logo_id } = await setLogo(_id, `${origin}/logo.png`);
    const updated = await support.updatePartner({
      partner_id: _id,
      logo_url: `${origin}/logo.jpg`,
    } as never);
    expect(updated.logo_url).toBe(`${origin}/logo.jpg`);
    expect(await world.deps.partnerLogos.find(logo_id as string)).toBeNull();
    const { logo_id: second } = await own.getSettings({ partner_id: _id });
    expect(await world.deps.partnerLogos.find(second as string)).not.toBeNull();
    expect((await setLogo(_id, '')).logo_id).toBeUndefined();
    expect(await world.deps.partnerLogos.find(second as string)).toBeNull();
  });

  test.each([
    ['/logo.svg', 'is not a PNG, JPEG or WebP picture'],
    ['/page.png', 'is not a PNG, JPEG or WebP picture'],
    ['/large.png', 'is larger than 256 KiB'],
    ['/none.png', 'did not answer with a picture'],
  ])('is refused, and changes nothing: %s', async (path, reason) => {
    const { _id } = await world.partner();
    const { logo_id } = await setLogo(_id, `${origin}/logo.png`);
    expect(await failureOf(setLogo(_id, origin + path))).toMatchObject({
      code: 'INVALID_FIELD',
      message: `logo_url ${reason}`,
    });
    const settings = await own.getSettings({ partner_id: _id });
    expect(settings.logo_id).toBe(logo_id);
  });
});
