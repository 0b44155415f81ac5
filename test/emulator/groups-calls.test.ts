import { apiOf, ONE, startWorld, TWO, type Api, type World } from './test-support';

let world: World;
let api: Api;
let two: Api;
beforeEach(async () => {
  world = await startWorld();
  api = apiOf(world.emulator, ONE.token);
  two = apiOf(world.emulator, TWO.token);
  await world.emulator.patchAccount(TWO.waba, { subscribed: true });
  await world.emulator.behaviour({ lifecycle_delay_ms: 10 });
});
afterEach(() => world.close());

const PRODUCT = { messaging_product: 'whatsapp' };
const path = `/${TWO.cloud_number}/groups`;

describe('groups', () => {
  it('are refused on a number without them enabled', async () => {
    const { status, body } = await api('GET', `/${ONE.number}/groups`);
    expect(status).toBe(500);
    expect(body.error.code).toBe(131000);
    await world.emulator.patchNumber(ONE.number, { groups: 'ineligible' });
    expect((await api('GET', `/${ONE.number}/groups`)).body.error.code).toBe(131215);
  });

  it('answer an invalid cursor with their own code', async () => {
    expect((await two('GET', `${path}?after=x`)).body.error.code).toBe(131059);
  });
});

describe('calls', () => {
  const offer = { sdp_type: 'offer', sdp: 'v=0\r\n' };
  const act = (action: string, more: object = {}, number = TWO.cloud_number) =>
    two('POST', `/${number}/calls`, { ...PRODUCT, action, ...more });

  it('require calling to be enabled and the customer’s permission', async () => {
    const off = await act('connect', { to: '15550100777', session: offer }, TWO.number);
    expect(off.status).toBe(401);
    expect(off.body.error.code).toBe(138000);
    const stranger = await act('connect', { to: '15550100999', session: offer });
    expect(stranger.body.error.code).toBe(138006);
    expect((await act('connect', { to: '15550100777' })).body.error.code).toBe(100);
  });
});
