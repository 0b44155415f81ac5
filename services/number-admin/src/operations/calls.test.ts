import { useRig } from '../../test/build';

const CONNECT = { action: 'connect', to: '15550100777' };
const TIMEOUT_MS = 200;

const rig = useRig(TIMEOUT_MS);

const place = (call: object) => rig.run('placeCall', { call });

test('passes the body on in its own order, with the messaging product', async () => {
  rig.upstream.answers({ calls: [{ id: 'wacid.1' }] });
  const session = { sdp: 'v=0\r\ns=-\r\n', sdp_type: 'offer', later: null };
  await place({ zeta: [1, { b: 1, a: 2 }], session, messaging_product: 'other', ...CONNECT });
  expect(rig.upstream.raw[0]).toBe(
    '{"messaging_product":"whatsapp","zeta":[1,{"b":1,"a":2}],' +
      '"session":{"sdp":"v=0\\r\\ns=-\\r\\n","sdp_type":"offer","later":null},' +
      '"action":"connect","to":"15550100777"}',
  );
});

test('calls a BSUID with recipient', async () => {
  rig.upstream.answers({ calls: [{ id: 'wacid.1' }] });
  await place({ action: 'connect', recipient: 'US.4Qm7Zr81Kd02' });
  expect(rig.upstream.asked[0]?.body).toMatchObject({ recipient: 'US.4Qm7Zr81Kd02' });
});

test.each([
  ['paused', 'NO_ACTIVE_WABA'],
  ['billing_failed', 'PAYMENT_FAILED'],
])('starts no call while sending is %s, but ends a running one', async (sending, code) => {
  rig.directory.credential = { sending };
  rig.upstream.answers({ success: true });
  await expect(place(CONNECT)).rejects.toMatchObject({ code });
  expect(rig.upstream.asked).toEqual([]);
  await expect(place({ action: 'terminate', call_id: 'wacid.1' })).resolves.toEqual({ fields: {} });
});

test('reports an unknown, non-retryable outcome for a call without an answer', async () => {
  rig.upstream.answers('hang');
  await expect(place(CONNECT)).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
    retryable: false,
    details: { outcome: 'unknown' },
  });
  expect(rig.upstream.asked).toHaveLength(1);
});
