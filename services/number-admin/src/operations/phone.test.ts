import { NUMBER, OTHER_NUMBER, useRig, TARGET } from '../../test/build';
import { upstreamError } from '../../test/upstream-stub';

const OK = { success: true };
const LISTED = { data: [{ id: NUMBER }, { id: OTHER_NUMBER }] };
const WRONG_PIN = 133_005;

const rig = useRig();

const lastBody = (): unknown => rig.upstream.asked.at(-1)?.body;

describe('the two-step PIN', () => {
  const setPin = (pin: string, phone_number_id?: string) =>
    rig.run('setTwoStepPin', { pin, phone_number_id });

  test('is stored for the client’s own number after the upstream accepts it', async () => {
    rig.upstream.answers(OK);
    await expect(setPin('246810')).resolves.toEqual({ pin_stored: true });
    const { partner_id, waba_id } = TARGET;
    expect(rig.directory.stored).toEqual([
      { partner_id, waba_id, phone_number_id: NUMBER, pin: '246810' },
    ]);
  });

  test('is not stored for a number that is not the client’s own', async () => {
    rig.upstream.answers(LISTED, OK);
    await expect(setPin('246810', OTHER_NUMBER)).resolves.toEqual({ pin_stored: false });
  });

  test('is not stored when the upstream refuses it', async () => {
    rig.upstream.answers(upstreamError(100));
    await expect(setPin('246810')).rejects.toMatchObject({ upstream_code: 100 });
    expect(rig.directory.stored).toEqual([]);
  });

  test('is reported as retryable if it could not be stored', async () => {
    rig.directory.failStore = new Error('away');
    rig.upstream.answers(OK);
    await expect(setPin('246810')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryable: true,
      details: { pin_set: true, pin_stored: false },
    });
  });

  test('is never part of an error', async () => {
    rig.upstream.answers(upstreamError(100, { error_data: 'the pin 246810 is too simple' }));
    await expect(setPin('246810')).rejects.toMatchObject({
      details: 'the pin [redacted] is too simple',
    });
  });
});

describe('registering', () => {
  const register = (request: { pin?: string; phone_number_id?: string } = {}) =>
    rig.run('registerPhone', request);

  test('prefers the given PIN to the stored one', async () => {
    rig.directory.pins.set(NUMBER, '111111');
    rig.upstream.answers(OK);
    await register({ pin: '222222' });
    expect(lastBody()).toEqual({ messaging_product: 'whatsapp', pin: '222222' });
  });

  test('prefers the stored PIN of the same number to the platform’s', async () => {
    rig.directory.pins.set(NUMBER, '111111').set(OTHER_NUMBER, '333333');
    rig.upstream.answers(OK);
    await register();
    expect(lastBody()).toMatchObject({ pin: '111111' });
    rig.upstream.answers(LISTED, OK);
    await register({ phone_number_id: OTHER_NUMBER });
    expect(lastBody()).toMatchObject({ pin: '333333' });
  });

  test('uses the platform’s PIN if none is stored', async () => {
    rig.upstream.answers(OK);
    await register();
    expect(lastBody()).toMatchObject({ pin: '000000' });
  });

  test('uses the platform’s PIN for another number only if that is registered', async () => {
    rig.upstream.answers(LISTED);
    const registering = register({ phone_number_id: OTHER_NUMBER });
    const missing = { code: 'MISSING_FIELDS', details: { fields: ['pin'] } };
    await expect(registering).rejects.toMatchObject(missing);
    expect(rig.upstream.asked.filter(({ method }) => method === 'POST')).toEqual([]);
    rig.directory.clients.add(OTHER_NUMBER);
    rig.upstream.answers(LISTED, OK);
    await register({ phone_number_id: OTHER_NUMBER });
    expect(lastBody()).toMatchObject({ pin: '000000' });
  });

  test('does not try another PIN after a refused one', async () => {
    rig.directory.pins.set(NUMBER, '111111');
    rig.upstream.answers(upstreamError(WRONG_PIN), OK);
    await expect(register()).rejects.toMatchObject({ upstream_code: WRONG_PIN, retryable: false });
    expect(rig.upstream.asked).toHaveLength(1);
  });
});

describe('requesting a code', () => {
  test.each([
    ['a refusal', upstreamError(100, { error_subcode: 2_388_091 })],
    ['a rate limit', upstreamError(4)],
    ['a fault without a reason', { status: 503, body: 'away' }],
  ])('reports %s with a warning and never as retryable', async (_what, answer) => {
    rig.upstream.answers(answer, OK);
    const request = rig.run('requestCode', { code_method: 'SMS', language: 'en_US' });
    await expect(request).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: expect.stringContaining('repeated requests block the number'),
      retryable: false,
      retry_after_s: undefined,
    });
    expect(rig.upstream.asked).toHaveLength(1);
  });
});

test('a failed deregistration is never retryable', async () => {
  rig.upstream.answers({ status: 503, body: 'away' }, OK);
  await expect(rig.run('deregisterPhone')).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
    retryable: false,
  });
  expect(rig.upstream.asked).toHaveLength(1);
});

test('never returns a code in an error', async () => {
  rig.upstream.answers(upstreamError(100, { error_user_msg: '987654 has expired' }));
  const verifying = rig.run('verifyCode', { code: '987654' });
  await expect(verifying).rejects.toMatchObject({ details: '[redacted] has expired' });
});

describe('the messaging limit in the status', () => {
  const status = () => rig.run('getPhoneStatus');
  const LIMIT = 'whatsapp_business_manager_messaging_limit';

  test('is read under its old name if the platform knows no other', async () => {
    const unknown = { status: 400, body: { error: { code: 100, message: `(#100) ${LIMIT}?` } } };
    rig.upstream.answers(unknown, { id: NUMBER, messaging_limit_tier: 'TIER_1K' });
    await expect(status()).resolves.toEqual({
      fields: { id: NUMBER, messaging_limit_tier: 'TIER_1K' },
    });
    expect(rig.upstream.asked[1]?.query['fields']).toContain(',messaging_limit_tier');
  });

  test('may come as an object', async () => {
    rig.upstream.answers({ id: NUMBER, [LIMIT]: { messaging_limit_tier: 'TIER_10K' } });
    await expect(status()).resolves.toEqual({
      fields: { id: NUMBER, messaging_limit_tier: 'TIER_10K' },
    });
  });

  test('passes on any other refusal without a second request', async () => {
    rig.upstream.answers(upstreamError(100), {});
    await expect(status()).rejects.toMatchObject({ upstream_code: 100 });
    expect(rig.upstream.asked).toHaveLength(1);
  });
});
