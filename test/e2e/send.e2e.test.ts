// Registration, sends and their statuses.
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/shared-mesh';
import { isSigned } from '../testkit/partner';
import { useMesh, usePartner } from './use-mesh';

const mesh = useMesh();
const partner = usePartner(mesh, []);

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  partner.call('POST', path, body, { 'x-waba-id': ONE.waba_id, ...headers });
const lastSent = async () => (await mesh.emulator.messages()).at(-1);

describe('registration', () => {
  test('returns the client without its token, subscribes the account and requests the sync', async () => {
    const { status, body } = await partner.register(ONE);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      success: true,
      client: {
        waba_id: ONE.waba_id,
        phone_number_id: ONE.phone_number_id,
        phone_number: '15550100001',
        status: 'active',
        tier: 'STANDARD',
        quality_rating: 'GREEN',
        connection_mode: 'coexistence',
      },
      coexistence_sync: { smb_app_state_sync: 'requested', history: 'requested' },
    });
    expect(JSON.stringify(body)).not.toContain(ONE.access_token);
    const paths = (await mesh.emulator.requests({ method: 'POST' })).map(({ path }) => path);
    expect(paths.filter((path) => path.endsWith('/subscribed_apps'))).toHaveLength(1);
    expect(paths.filter((path) => path.endsWith('/smb_app_data'))).toHaveLength(2);
  });

  test('is idempotent: a repeat gets 200, keeps one row and requests no second sync', async () => {
    const { status, body } = await partner.call('POST', '/clients/register', {
      ...ONE,
      display_name: 'Renamed',
    });
    expect([status, body.client.display_name]).toEqual([200, 'Renamed']);
    expect((await partner.call('GET', '/clients')).body).toMatchObject({
      total: 1,
      limit: 100,
      offset: 0,
    });
    const paths = (await mesh.emulator.requests({ method: 'POST' })).map(({ path }) => path);
    expect(paths.filter((path) => path.endsWith('/smb_app_data'))).toHaveLength(2);
  });
});

describe('a send', () => {
  test('returns the message ID, and its signed statuses arrive in order', async () => {
    const { status, body } = await post('/messages/send', {
      to: '+1 555-010-0777',
      text: 'Hello',
      preview_url: false,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      message_id: expect.stringMatching(/^wamid\./),
      messages: [{ id: body.message_id }],
      contacts: [{ input: '15550100777', wa_id: '15550100777' }],
      timeline_url: `${mesh.base_url}/messages/${encodeURIComponent(body.message_id)}/timeline`,
    });
    const mine = () =>
      partner.receiver.arrivals.filter((one) => one.body.data['message_id'] === body.message_id);
    await eventually(() => mine().length === 3);
    expect(mine().map((one) => one.body.event)).toEqual([
      'message.sent',
      'message.delivered',
      'message.read',
    ]);
    for (const arrival of mine()) {
      expect(isSigned(arrival, partner.webhook_secret)).toBe(true);
      expect(arrival.body).toMatchObject({
        waba_id: ONE.waba_id,
        phone_number_id: ONE.phone_number_id,
        data: { recipient: '15550100777' },
        meta: {
          api_version: '2.9.2',
          notices: [{ severity: 'action_required' }, { severity: 'info' }],
        },
      });
    }
    expect(mine()[0]?.body.data['pricing']).toMatchObject({ pricing_model: 'PMP' });
  });

  test.each([
    ['a BSUID in to', { to: 'US.4Qm7Zr81Kd02' }, { recipient: 'US.4Qm7Zr81Kd02' }],
    ['a prefixed BSUID', { to: 'whatsapp:US.4Qm7Zr81Kd02' }, { recipient: 'US.4Qm7Zr81Kd02' }],
    ['user_id', { user_id: 'US.4Qm7Zr81Kd02' }, { recipient: 'US.4Qm7Zr81Kd02' }],
    ['its alias recipient', { recipient: 'US.4Qm7Zr81Kd02' }, { recipient: 'US.4Qm7Zr81Kd02' }],
    [
      'a phone beside a BSUID, where the phone wins',
      { to: '15550100777', user_id: 'US.4Qm7Zr81Kd02' },
      { to: '15550100777' },
    ],
  ])('accepts the recipient as %s', async (_name, recipient, address) => {
    const { status, body } = await post('/messages/send', { ...recipient, text: 'Hello' });
    expect(status).toBe(200);
    const sent = await lastSent();
    expect(sent?.body).toMatchObject(address);
    expect('to' in sent?.body && 'recipient' in sent?.body).toBe(false);
    const [contact] = body.contacts;
    if ('to' in address) expect(contact).toHaveProperty('wa_id');
    else expect(contact).toEqual({ input: 'US.4Qm7Zr81Kd02', user_id: 'US.4Qm7Zr81Kd02' });
  });

  test('of a template wraps the language and drops an ordinary message_status', async () => {
    const parameters = ['Ada', 'A-17'].map((text) => ({ type: 'text', text }));
    const components = [{ type: 'body', parameters }];
    const { status, body } = await post('/messages/template', {
      to: '15550100777',
      template: { name: 'order_update', language: 'en_US', components },
    });
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('message_status');
    expect((await lastSent())?.body.template).toEqual({
      name: 'order_update',
      language: { code: 'en_US' },
      components,
    });
  });
});
