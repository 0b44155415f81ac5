import type { ApplyIndexesResponse, CompareIndexesResponse } from '@bmg/proto/data';
import type { Database, IndexChange } from '../mongo';
import { call } from '../../test/rpc';
import { createLogger } from '../telemetry';
import { createIndexRpcs } from '.';

const log = createLogger('test');

const OPTIONS = { rebuild: false, drop_obsolete: false };
const CHANGE: IndexChange = { collection: 'a', key: 'b: 1', outcome: 'created', reason: '' };

/** Index work that ends when `finish` is called. */
function aService() {
  let finish: (changes: IndexChange[]) => void = () => undefined;
  const apply = jest.fn(() => new Promise<IndexChange[]>((resolve) => (finish = resolve)));
  const stored = { name: 'b_1', key: { b: 1 } };
  const differences = async () => [{ collection: 'a', state: 'obsolete' as const, stored }];
  const database = { indexes: { apply, differences } } as unknown as Database;
  const { handlers } = createIndexRpcs(database, log) as unknown as {
    handlers: {
      compareIndexes(request: object): Promise<CompareIndexesResponse>;
      applyIndexes(request: object, call: object): Promise<ApplyIndexesResponse>;
    };
  };
  return { ...handlers, apply, finish: () => finish([CHANGE]) };
}

test('answers with the changes, and with the differences that remain', async () => {
  const { applyIndexes, finish } = aService();
  const answer = applyIndexes(OPTIONS, call());
  finish();
  expect(await answer).toEqual({
    changes: [CHANGE],
    building: false,
    differences: [{ collection: 'a', name: 'b_1', key: 'b: 1', state: 'obsolete', options: [] }],
  });
});

test('reports a build that outlasts the call, and starts no second one', async () => {
  const { applyIndexes, compareIndexes, apply, finish } = aService();
  for (let time = 0; time < 2; time += 1) {
    expect(await applyIndexes(OPTIONS, call(1))).toMatchObject({ changes: [], building: true });
  }
  expect(await compareIndexes({})).toMatchObject({ building: true });
  expect(apply).toHaveBeenCalledTimes(1);
  finish();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await compareIndexes({})).toMatchObject({ building: false });
});
