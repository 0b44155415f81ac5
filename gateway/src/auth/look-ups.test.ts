import { ApiError } from '@bmg/common/errors';
import { createLookUps, REFUSALS_MAX } from './look-ups';
import { ROOM } from '../../test/room';

const ADDRESS = '192.0.2.1';
const refusal = (): ApiError =>
  new ApiError('INVALID_PARTNER_KEY', 'x-partner-key is not a valid key');
const refusing = () =>
  jest.fn(async () => {
    throw refusal();
  });

test('looks up a refused credential once', async () => {
  const look_ups = createLookUps(ROOM);
  const look = refusing();
  for (let time = 0; time < 50; time += 1) {
    await expect(look_ups.run('hash', ADDRESS, look)).rejects.toMatchObject({ http: 401 });
  }
  expect(look).toHaveBeenCalledTimes(1);
});

test('looks up a credential again after any other failure', async () => {
  const look_ups = createLookUps(ROOM);
  const look = jest.fn(async () => {
    throw new ApiError('SERVICE_UNAVAILABLE', 'away');
  });
  for (let time = 0; time < 3; time += 1) {
    await expect(look_ups.run('hash', ADDRESS, look)).rejects.toMatchObject({ http: 503 });
  }
  expect(look).toHaveBeenCalledTimes(3);
});

test('limits a network with many refused credentials, and no other', async () => {
  const look_ups = createLookUps(ROOM);
  const look = refusing();
  for (let count = 0; count < 2 * REFUSALS_MAX; count += 1) {
    const code = count < REFUSALS_MAX ? 'INVALID_PARTNER_KEY' : 'RATE_LIMIT_EXCEEDED';
    await expect(look_ups.run(`hash ${count}`, ADDRESS, look)).rejects.toMatchObject({ code });
  }
  expect(look).toHaveBeenCalledTimes(REFUSALS_MAX);
  expect(await look_ups.run('valid', '192.0.2.2', async () => 'found')).toBe('found');
});

test('takes a place of the pool for the time of the look-up', async () => {
  let inside = 0;
  const look_ups = createLookUps({
    enterOpen() {
      inside += 1;
      return () => void (inside -= 1);
    },
  });
  expect(await look_ups.run('a', ADDRESS, async () => inside)).toBe(1);
  await expect(look_ups.run('b', ADDRESS, refusing())).rejects.toThrow();
  expect(inside).toBe(0);
});
