// The onboarding log of a manual registration.
import { failureOf, useWorld } from '../../../test/world';

const ONE = { waba_id: '900000000000001', phone_number_id: '800000000000001' };
const TOKEN = 'EMULATED-TOKEN-1';

const world = useWorld();

const register = (partner_id: string, given: object = {}) =>
  world.register(partner_id, { ...ONE, access_token: TOKEN, ...given });

/** In the order in which they happened. */
const events = async (partner_id: string) =>
  (await world.handlers.listOnboardingEvents({ partner_id, limit: 200 })).events.reverse();

it('records every step with the account and the number', async () => {
  const { _id } = await world.partner();
  await register(_id);
  const noted = await events(_id);
  expect(noted.map(({ current_step }) => current_step)).toEqual([
    'REGISTRATION',
    'COEXISTENCE_SYNC',
    'COMPLETED',
  ]);
  for (const event of noted) {
    expect(event).toMatchObject(ONE);
    expect(event.error_code).toBeUndefined();
  }
});

it('records the upstream’s code and trace ID if it refuses the registration', async () => {
  const { _id } = await world.partner();
  const refused = await failureOf(register(_id, { access_token: 'EMULATED-TOKEN-INVALID' }));
  expect(refused).toMatchObject({ code: 'UPSTREAM_ERROR', upstream_code: 190 });
  const noted = await events(_id);
  expect(noted).toHaveLength(1);
  expect(noted[0]).toMatchObject({
    ...ONE,
    current_step: 'REGISTRATION',
    error_code: 'UPSTREAM_ERROR',
    error_message: expect.stringContaining('upstream code 190'),
    // As the emulator creates them.
    upstream_session_id: expect.stringMatching(/^A[\w-]{11}$/),
  });
  expect(JSON.stringify(noted)).not.toContain('EMULATED-TOKEN');
});

it('records which of our rules refuses the registration', async () => {
  const { _id } = await world.partner({ max_wabas: 0 });
  await failureOf(register(_id));
  await failureOf(register(_id, { phone_number_id: '800000000000002' }));
  const noted = await events(_id);
  expect(noted.map(({ current_step, error_code }) => [current_step, error_code])).toEqual([
    ['REGISTRATION', 'WABA_LIMIT_REACHED'],
    ['REGISTRATION', expect.any(String)],
  ]);
  expect(noted[1]?.phone_number_id).toBe('800000000000002');
});
