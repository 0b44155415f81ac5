// The upstream's limits on management requests, as the operations of this service meet them.
import { useRig, TARGET } from '../../test/build';
import { upstreamError } from '../../test/upstream-stub';

/** The outcome of a request that the upstream does not answer. */
const TIMEOUT_MS = 200;

const rig = useRig(TIMEOUT_MS);

const LIMITED = upstreamError(80007);

test('after three refusals for too many requests the account waits, and the answer gives the wait', async () => {
  const { upstream, rpc, call } = rig;
  upstream.answers(LIMITED, LIMITED, LIMITED, { data: [] }, { data: [] });
  for (let time = 0; time < 3; time += 1) {
    await expect(rpc.listFlows({ target: TARGET }, call())).rejects.toMatchObject({
      upstream_code: 80007,
    });
  }
  const refused = { code: 'UPSTREAM_ERROR', upstream_code: 80007, retryable: true };
  for (const ask of [rpc.listFlows, rpc.listQrCodes]) {
    await expect(ask({ target: TARGET }, call())).rejects.toMatchObject({
      ...refused,
      message: expect.stringMatching(/for this account .* try again in \d+ s/),
      retry_after_s: expect.any(Number),
    });
  }
  expect(upstream.asked).toHaveLength(3);
  await rpc.listFlows({ target: { ...TARGET, waba_id: '900000000000009' } }, call());
  expect(upstream.asked).toHaveLength(4);
});

test('calls go out beside it: they have limits of their own', async () => {
  const { upstream, rpc, call } = rig;
  upstream.answers(LIMITED, LIMITED, LIMITED, { success: true });
  for (let time = 0; time < 3; time += 1) {
    await expect(rpc.listFlows({ target: TARGET }, call())).rejects.toMatchObject({
      upstream_code: 80007,
    });
  }
  await rpc.placeCall(
    { target: TARGET, call: { action: 'terminate', call_id: 'wacid.1' } },
    call(),
  );
  expect(upstream.asked).toHaveLength(4);
});

test('a partner that follows many lists is refused the next one', async () => {
  const { upstream, rpc, call } = rig;
  upstream.answers(...Array<'hang'>(20).fill('hang'), { data: [] });
  const open = Array.from({ length: 20 }, () => rpc.listFlows({ target: TARGET }, call()));
  const settled = Promise.allSettled(open);
  await expect(rpc.listFlows({ target: TARGET }, call())).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
  });
  await settled;
});
