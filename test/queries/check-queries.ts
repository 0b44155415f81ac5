// Compares the queries of a run with the indexes that the services declare. A query that reads or
// sorts a whole collection costs more with every row that is stored, which no test feels.
import { existsSync, readFileSync } from 'node:fs';
import { indexes as broadcasts } from '../../services/broadcasts/src/collections';
import { indexes as messaging } from '../../services/messaging/src/collections';
import { indexes as onboarding } from '../../services/onboarding/src/stores';
import { indexes as templates } from '../../services/templates/src/store';
import { indexes as webhooks } from '../../services/webhooks/src/collections';
import type { Indexes } from '../../services/common/src/mongo';
import { verdictOn, type QueryShape } from './query-plan';

/** The file, in the folder of a run, to which the stand-in for MongoDB writes the queries. */
export const QUERIES = 'queries.jsonl';

const DECLARED: Record<string, Indexes> = {
  onboarding,
  messaging,
  broadcasts,
  templates,
  webhooks,
};

/** The service of a query; a test beside the code may call its database as it likes. */
function serviceOf({ database, collection }: QueryShape): string | undefined {
  const named = Object.keys(DECLARED).find((service) => database.endsWith(service));
  const owners = Object.keys(DECLARED).filter((service) => DECLARED[service]?.[collection]);
  return named ?? (owners.length === 1 ? owners[0] : undefined);
}

/** Queries that may read or sort what they select as a whole, and why. */
const EXCEPTIONS: ReadonlyArray<[query: RegExp, why: string]> = [
  [/^\w+\.\w+ \{\} /, 'only tests count or empty whole collections'],
  [/^onboarding\.partners /, 'grows with contracts, not with traffic'],
  [
    /^onboarding\.\w+ .*key_id"/,
    'rotation of the key ring and its check, by the operator, in pages',
  ],
  [/^onboarding\.partner_keys .*key_hash"/, 'peppers that can end, by the operator'],
  [/^onboarding\.(partner_keys|webhook_endpoints) \{"partner_id":1\}/, 'at most some dozens each'],
  [/^onboarding\.clients \{"partner_id":1,"waba_id":1,"status":1\}/, 'the numbers of one account'],
  [/^onboarding\.dashboard_sessions \{"partner_id":1/, 'the log-ins of eight hours'],
  [/^onboarding\.code_exchanges \{"partner_id":1,"result/, 'a purge; the codes of three hours'],
  [/^messaging\.contacts \{"numbers\.\d+":/, 'a test waits for a contact'],
  [/^messaging\.send_claims \{"state":1\}/, 'a test counts its claims'],
  [/^webhooks\.replays \{"running":/, 'one for each partner that replays'],
  [/^webhooks\.deliveries \{"next_attempt_at":1\}/, 'a test looks for its row'],
];

/** The queries without an index that serves them, one a line. */
export function queriesWithoutIndex(file: string): string[] {
  if (!existsSync(file)) return [];
  const shapes = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return shapes.flatMap((line) => {
    const shape = JSON.parse(line) as QueryShape;
    const service = serviceOf(shape);
    if (service === undefined) return [];
    const { collection, filter, sort } = shape;
    const verdict = verdictOn(shape, DECLARED[service]?.[collection] ?? []);
    if (verdict === 'served') return [];
    const text = `${service}.${collection} ${JSON.stringify(filter)} sort ${JSON.stringify(sort)}`;
    if (EXCEPTIONS.some(([query]) => query.test(text))) return [];
    return [`${text} ${verdict}`];
  });
}
