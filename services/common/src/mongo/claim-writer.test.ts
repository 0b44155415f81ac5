import { MongoBulkWriteError, type Collection } from 'mongodb';
import { writeClaims } from './claim-writer';

const insert = { insertOne: { document: { _id: 'one' } } };

/** A collection whose bulk write fails as the driver reports it. */
const failing = (error: MongoBulkWriteError): Collection<{ _id: string }> =>
  ({ bulkWrite: () => Promise.reject(error) }) as never;
const failure = (writeErrors: object[]): MongoBulkWriteError =>
  new MongoBulkWriteError(
    { message: 'failed', writeErrors } as never,
    {
      getWriteConcernError: () => undefined,
    } as never,
  );

test('a claim whose id is taken is refused', async () => {
  const taken = failure([{ index: 0, code: 11_000 }]);
  await expect(writeClaims(failing(taken), [insert])).resolves.toEqual(new Set([0]));
});

test('nothing counts as claimed when the connection is lost', async () => {
  await expect(writeClaims(failing(failure([])), [insert])).rejects.toThrow('failed');
});
