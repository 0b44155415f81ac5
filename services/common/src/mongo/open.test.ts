import { createLogger } from '../telemetry';
import { openMongo } from '.';

test.each([
  ['mongodb://db.example/', true],
  ['mongodb://db.example/?retryWrites=true', true],
  ['mongodb://db.example/?retryWrites=false', false],
])('takes retryWrites from %s', (MONGO_URL, expected) => {
  const settings = { MONGO_URL, MONGO_DATABASE_PREFIX: 'a-' };
  const { db } = openMongo(settings, 'b', createLogger('test'), {});
  expect((db as unknown as { client: { options: object } }).client.options).toMatchObject({
    retryWrites: expected,
  });
});
