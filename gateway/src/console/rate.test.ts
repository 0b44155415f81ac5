import { createMemoryBucket } from '../limits/bucket';
import { checkRate } from './rate';

const OVERVIEW_REQUESTS = 18;

test('three overviews of a partner at once are served, a fourth waits, another partner does not', async () => {
  const bucket = createMemoryBucket(() => 0);
  const outcomes = async (partner_id: string, count: number): Promise<number> => {
    const checks = Array.from({ length: count }, () => checkRate(bucket, partner_id));
    return (await Promise.allSettled(checks)).filter(({ status }) => status === 'fulfilled').length;
  };
  expect(await outcomes('one', 3 * OVERVIEW_REQUESTS)).toBe(3 * OVERVIEW_REQUESTS);
  expect(await outcomes('one', OVERVIEW_REQUESTS)).toBe(6);
  await expect(checkRate(bucket, 'one')).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
  expect(await outcomes('two', OVERVIEW_REQUESTS)).toBe(OVERVIEW_REQUESTS);
});
