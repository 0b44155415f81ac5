import { ApiError } from '@bmg/common/errors';
import { createPool } from '@bmg/common/overload';
import type { Logger } from '@bmg/common/telemetry';
import { TARGET } from '../../test/builders';
import { aCall } from '../../../../test/testkit/call';
import { LOOKS_MAX, LOOKS_SHARE, mediaReasons, type MediaDependencies } from './media';

const log = { warn: jest.fn() } as unknown as Logger;
const SHARE = LOOKS_MAX * LOOKS_SHARE;
const NOT_LOOKED_UP = {
  effect: 'unknown',
  code: 'MEDIA_UNKNOWN',
  message: expect.stringContaining('the link was not looked up'),
};

function stage() {
  const waiting: Array<(failed?: Error) => void> = [];
  const look = jest.fn(
    () =>
      new Promise<{ mime_type: string; size_bytes: number }>((resolve, reject) =>
        waiting.push((failed) =>
          failed ? reject(failed) : resolve({ mime_type: 'image/png', size_bytes: 1 }),
        ),
      ),
  );
  const looks = createPool(
    { server: 'media', reason: 'looks', holder: 'partner', max: LOOKS_MAX, share: LOOKS_SHARE },
    log,
  );
  const deps = { files: { look }, looks } as unknown as MediaDependencies;
  const reasonsFor = (partner_id: string) => {
    const target = { ...TARGET, partner_id };
    const media = { link: 'https://files.example.com/a.png' };
    return mediaReasons(deps, { type: 'image', media, target, access_token: 't' }, aCall());
  };
  return {
    look,
    reasonsFor,
    end: (failed?: Error) => waiting.splice(0).forEach((one) => one(failed)),
  };
}

test('looks up few links of one partner at a time, and reports the others as not looked up', async () => {
  const { look, reasonsFor, end } = stage();
  const held = Array.from({ length: SHARE }, () => reasonsFor('par_1'));
  expect(await reasonsFor('par_1')).toMatchObject([NOT_LOOKED_UP]);
  expect(look).toHaveBeenCalledTimes(SHARE);
  const other = reasonsFor('par_2');
  end();
  expect(await Promise.all([...held, other])).toEqual(Array.from({ length: SHARE + 1 }, () => []));
});

test('looks up no link once all partners together use up the pool', async () => {
  const { reasonsFor, end } = stage();
  const held = Array.from({ length: LOOKS_MAX }, (_one, at) =>
    reasonsFor(`par_${Math.floor(at / SHARE)}`),
  );
  expect(await reasonsFor('par_new')).toMatchObject([NOT_LOOKED_UP]);
  end(new ApiError('INVALID_FIELD', 'media.link could not be fetched'));
  await Promise.all(held);
  const again = reasonsFor('par_new');
  end();
  expect(await again).toEqual([]);
});
