// The number of a request, and its refusal by onboarding, of this or a later release.
import { toRefusal } from '@bmg/common/directory';
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { ResolveTargetsResponse } from '@bmg/proto/onboarding';
import { createScopeResolver } from './scope';

const CALL = {} as Call;
const HEADERS = { 'x-waba-id': '900000000000002' };
const SEVERAL = new ApiError('UPSTREAM_ERROR', 'this business account has several numbers', {
  retryable: false,
  details: { field: 'x-phone-number-id' },
});

function setUp(answer: ResolveTargetsResponse, single: () => Promise<never>) {
  const resolveTarget = jest.fn(single);
  const resolveTargets = jest.fn(async () => answer);
  const resolve = createScopeResolver({ resolveTarget, resolveTargets });
  return {
    resolveTarget,
    resolveTargets,
    resolve: (version: string | undefined = 'v1') => resolve('ptn_1', HEADERS, version, CALL),
  };
}
const never = (): Promise<never> => Promise.reject(new Error('unexpected single look-up'));

test('looks up a number in a batch of one, once for each version', async () => {
  const { resolve, resolveTargets } = setUp({ phone_number_ids: ['8'], refusals: {} }, never);
  for (const version of ['v1', 'v1', 'v2']) {
    expect(await resolve(version)).toMatchObject({
      phone_number_id: '8',
      directory_version: version,
    });
  }
  const { partner_id, waba_id } = { partner_id: 'ptn_1', waba_id: HEADERS['x-waba-id'] };
  const batch = { targets: [{ partner_id, waba_id, phone_number_id: undefined }] };
  expect(resolveTargets.mock.calls).toEqual([
    [batch, CALL],
    [batch, CALL],
  ]);
});

test('a refusal in the batch is the error of the request, and is not cached', async () => {
  const refused = { phone_number_ids: [''], refusals: { 0: toRefusal(SEVERAL) } };
  const { resolve, resolveTargets } = setUp(refused, never);
  for (let time = 0; time < 2; time += 1) {
    await expect(resolve()).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: SEVERAL.message,
      retryable: false,
      details: { field: 'x-phone-number-id' },
    });
  }
  expect(resolveTargets).toHaveBeenCalledTimes(2);
});

test('a server with an unknown code is queried by the single RPC for the error', async () => {
  const unknown = { code: 'NOT_YET_KNOWN', message: 'no', retryable: false, details: undefined };
  const refusals = { 0: unknown };
  const { resolve, resolveTarget } = setUp({ phone_number_ids: [''], refusals }, () =>
    Promise.reject(SEVERAL),
  );
  await expect(resolve()).rejects.toBe(SEVERAL);
  expect(resolveTarget).toHaveBeenCalledTimes(1);
});
