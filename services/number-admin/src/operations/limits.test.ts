// The upstream's limits on management requests, as the operations of this service meet them.
import { useRig, TARGET } from '../../test/build';
import { upstreamError, type Answer } from '../../test/upstream-stub';

/** The outcome of a request that the upstream does not answer. */
const TIMEOUT_MS = 200;

const rig = useRig(TIMEOUT_MS);

async function refusedThreeTimes(...then: Answer[]): Promise<void> {
  const limited = upstreamError(80007);
  rig.upstream.answers(limited, limited, limited, ...then);
  for (let time = 0; time < 3; time += 1) {
    await expect(rig.run('listFlows')).rejects.toMatchObject({ upstream_code: 80007 });
  }
}

test('after three refusals for too many requests the account waits, and the answer gives the wait', async () => {
  const { upstream, run } = rig;
  await refusedThreeTimes({ data: [] }, { data: [] });
  const refused = { code: 'UPSTREAM_ERROR', upstream_code: 80007, retryable: true };
  for (const method of ['listFlows', 'listQrCodes'] as const) {
    await expect(run(method)).rejects.toMatchObject({
      ...refused,
      message: expect.stringMatching(/for this account .* try again in \d+ s/),
      retry_after_s: expect.any(Number),
    });
  }
  expect(upstream.asked).toHaveLength(3);
  await run('listFlows', { target: { ...TARGET, waba_id: '900000000000009' } });
  expect(upstream.asked).toHaveLength(4);
});

test('calls go out beside it: they have limits of their own', async () => {
  const { upstream, run } = rig;
  await refusedThreeTimes({ success: true });
  await run('placeCall', { call: { action: 'terminate', call_id: 'wacid.1' } });
  expect(upstream.asked).toHaveLength(4);
});

test('a partner that follows many lists is refused the next one', async () => {
  const { upstream, run } = rig;
  upstream.answers(...Array<'hang'>(20).fill('hang'), { data: [] });
  const open = Array.from({ length: 20 }, () => run('listFlows'));
  const settled = Promise.allSettled(open);
  await expect(run('listFlows')).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
  });
  await settled;
});
