// The onboarding log of a manual registration.
import { failureOf, useWorld } from '../../../test/world';

const ONE = { waba_id: '900000000000001', phone_number_id: '800000000000001' };
const TOKEN = 'EMULATED-TOKEN-1';

const world = useWorld();

let _id: string;
beforeEach(async () => {
  ({ _id } = await world.partner());
});
const register = (given: object = {}) =>
  world.register(_id, { ...ONE, access_token: TOKEN, ...given });

/** In the order in which they happened. */
const events = async () =>
  (await world.handlers.listOnboardingEvents({ partner_id: _id, limit: 200 })).events.reverse();

it('records every step with the account and the number', async () => {
  await register();
  const noted = await events();
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
  const refused = await failureOf(register({ access_token: 'EMULATED-TOKEN-INVALID' }));
  expect(refused).toMatchObject({ code: 'UPSTREAM_ERROR', upstream_code: 190 });
  const noted = await events();
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
  await world.deps.partners.change(_id, { max_wabas: 0 }, new Date());
  await failureOf(register());
  await failureOf(register({ phone_number_id: '800000000000002' }));
  const noted = await events();
  expect(noted.map(({ current_step, error_code }) => [current_step, error_code])).toEqual([
    ['REGISTRATION', 'WABA_LIMIT_REACHED'],
    ['REGISTRATION', expect.any(String)],
  ]);
  expect(noted[1]?.phone_number_id).toBe('800000000000002');
});
