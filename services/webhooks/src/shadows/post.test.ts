// A shadow that started within the time in which an earlier look at its partner counts as current.
import { createLogger } from '@bmg/common/telemetry';
import type { Attempt } from '../delivery/attempt';
import type { Receiver } from '../delivery/receivers';
import { createShadowPosts, ShadowEnded } from './post';

const SHADOW = { shadow_id: 'shd_1', url: 'https://a.example', max_per_second: 10 };
const partner = (shadow: object | undefined, status = 'active') =>
  ({ shadow, status, endpoints: [] }) as unknown as Receiver;
const attempt = { event_id: 'evt_1', partner_id: 'ptn_1' } as Attempt;

/**
 * Posts with these answers of the directory, the last one for ever; a stopped process sends
 * nothing.
 */
async function postWith(...answers: Receiver[]): Promise<{ looks: number; sent: unknown }> {
  let looks = 0;
  const receivers = {
    of: async () => answers[Math.min(looks++, answers.length - 1)] as Receiver,
  };
  const log = createLogger('test');
  const post = createShadowPosts({ agent: undefined as never, receivers, log });
  const sent = await post({ shadow_id: 'shd_1', attempt, part: 1, stopped: AbortSignal.abort() });
  return { looks, sent };
}

test('it is not taken for one that has ended', async () => {
  expect(await postWith(partner(undefined), partner(SHADOW))).toEqual({
    looks: 2,
    sent: undefined,
  });
});

test.each([
  ['that was deleted', partner(undefined)],
  ['after which another started', partner({ ...SHADOW, shadow_id: 'shd_2' })],
  ['of a suspended partner', partner(SHADOW, 'suspended')],
])('a shadow %s has ended', async (_which, answer) => {
  await expect(postWith(answer)).rejects.toBeInstanceOf(ShadowEnded);
});
