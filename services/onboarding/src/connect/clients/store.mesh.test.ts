// Which index serves the queries for refreshes. The stand-in for MongoDB cannot explain a query, so
// the fields of the query are compared with those of the indexes.
import { MongoClient } from 'mongodb';
import { openDatabase } from '../../../test/world';
import { createClientFacts } from './store';
import { CLIENTS } from '../../ground/clients';

test('the query of each start for numbers without a refresh reads no other numbers', async () => {
  const mongo = await openDatabase();
  const client = await MongoClient.connect(process.env['MONGO_URL'] as string, {
    monitorCommands: true,
  });
  try {
    const filters: object[] = [];
    client.on('commandStarted', ({ command }) => {
      const { updates = [] } = command as { updates?: Array<{ q: object }> };
      filters.push(...updates.map(({ q }) => q));
    });
    const db = client.db(mongo.db.databaseName);
    await createClientFacts(db).scheduleRefreshes(new Date());
    expect(filters).toHaveLength(1);
    const fields = Object.keys(filters[0] as object);
    const serving = (await db.collection(CLIENTS).indexes())
      .filter(({ sparse, partialFilterExpression }) => !sparse && !partialFilterExpression)
      .map(({ key }) => Object.keys(key as object).slice(0, fields.length));
    expect(serving).toContainEqual(fields);
  } finally {
    await client.close();
    await mongo.drop();
  }
});
