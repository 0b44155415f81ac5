import {
  aText,
  apiOf,
  eventually,
  ONE,
  startWorld,
  TWO,
  type Api,
  type World,
} from './test-support';

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
const events = (field: string) =>
  world.receiver.changes(field).flatMap(({ value }) => value.groups);

describe('groups', () => {
  it('are created asynchronously, with the result in a webhook', async () => {
    const { body } = await two('POST', path, { ...PRODUCT, subject: 'Team', description: 'd' });
    expect(body).toEqual({ ...PRODUCT, request_id: expect.any(String) });
    await eventually(() => events('group_lifecycle_update').length === 1);
    const [created] = events('group_lifecycle_update');
    expect(created).toMatchObject({
      type: 'group_create',
      request_id: body.request_id,
      subject: 'Team',
      invite_link: expect.stringContaining('https://'),
      join_approval_mode: 'auto_approve',
    });
    const list = await two('GET', path);
    expect(list.body.data.groups).toEqual([
      { id: created.group_id, subject: 'Team', created_at: expect.any(String) },
    ]);
    const one = `/${encodeURIComponent(created.group_id)}`;
    expect((await two('GET', one)).body).toEqual({ id: created.group_id, ...PRODUCT });
    const full = await two('GET', `${one}?fields=subject,participants,join_approval_mode`);
    expect(full.body).toMatchObject({ subject: 'Team', participants: [] });
    expect((await two('DELETE', one)).body).toEqual({ success: true });
    await eventually(() => events('group_lifecycle_update').length === 2);
    expect(events('group_lifecycle_update')[1]).toMatchObject({ type: 'group_delete' });
    expect((await two('GET', one)).body.error.code).toBe(100);
  });

  it('are refused on a number without them enabled', async () => {
    const { status, body } = await api('GET', `/${ONE.number}/groups`);
    expect(status).toBe(500);
    expect(body.error.code).toBe(131000);
    await world.emulator.patchNumber(ONE.number, { groups: 'ineligible' });
    expect((await api('GET', `/${ONE.number}/groups`)).body.error.code).toBe(131215);
  });

  it('lose participants by a request with a body', async () => {
    const group = await world.emulator.group({
      phone_number_id: TWO.cloud_number,
      participants: [{ wa_id: '15550100777', user_id: 'US.4Qm7Zr81Kd022' }],
    });
    const one = `/${encodeURIComponent(group.id)}/participants`;
    const remove = (...list: string[]) =>
      two('DELETE', one, { ...PRODUCT, participants: list.map((user) => ({ user })) });
    expect((await remove(...'123456789')).body.error.code).toBe(131204);
    expect((await remove('1', '1')).body.error.code).toBe(131202);
    expect((await remove('+15550100777', '15550100778')).status).toBe(200);
    await eventually(() => events('group_participants_update').length === 1);
    expect(events('group_participants_update')[0]).toMatchObject({
      removed_participants: [{ input: '+15550100777' }],
      failed_participants: [{ input: '15550100778', errors: [{ code: 131212 }] }],
    });
  });

  it('accept messages once a customer has joined', async () => {
    const group = await world.emulator.group({ phone_number_id: TWO.cloud_number });
    const send = () =>
      two('POST', `/${TWO.cloud_number}/messages`, aText(group.id, { recipient_type: 'group' }));
    expect((await send()).body.error.code).toBe(131020);
    await world.emulator.joinGroup({ group_id: group.id, wa_id: '15550100777' });
    const { body } = await send();
    expect(body.contacts).toEqual([{ input: group.id }]);
    await eventually(() => world.receiver.statuses().length === 3);
    expect(world.receiver.statuses()[0]).toMatchObject({
      recipient_type: 'group',
      recipient_id: group.id,
      recipient_participant_id: '15550100777',
      pricing: { category: 'group_service' },
    });
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

  it('ring, and end with a webhook', async () => {
    const { body } = await act('connect', { to: '15550100777', session: offer });
    const call_id = body.calls[0].id as string;
    expect(call_id).toMatch(/^wacid\./);
    const second = await act('connect', { to: '15550100777', session: offer });
    expect(second.body.error.code).toBe(138003);
    await eventually(() => world.receiver.changes('calls').length === 1);
    expect((await act('terminate', { call_id })).body).toEqual({ ...PRODUCT, success: true });
    await eventually(() => world.receiver.changes('calls').length === 2);
    expect((await act('terminate', { call_id })).body.error.code).toBe(100);
  });

  it('from a customer can be accepted', async () => {
    const { call_id, delivered } = await world.emulator.inboundCall({
      phone_number_id: TWO.cloud_number,
    });
    expect(delivered).toBe(true);
    const session = { sdp_type: 'answer', sdp: 'v=0\r\n' };
    expect((await act('pre_accept', { call_id, session })).body.success).toBe(true);
    expect((await act('accept', { call_id, session })).body.success).toBe(true);
    expect((await act('accept', { call_id })).body.error.code).toBe(100);
  });

  it('report whether a customer may be called', async () => {
    const ask = (query: string) => two('GET', `/${TWO.cloud_number}/call_permissions?${query}`);
    const granted = await ask('user_wa_id=15550100777');
    expect(granted.body.actions[0].can_perform_action).toBe(true);
    expect((await ask('user_wa_id=15550100999')).body.permission.status).toBe('no_permission');
    expect((await ask('')).body.error.code).toBe(100);
  });
});
