// Validates answers of the console's API against the schemas of its rows. Objects are closed for
// this, as for the endpoints.
import type { RouteDependencies } from '../../gateway/src/console/route';
import { createRoutes } from '../../gateway/src/console/routes';
import { createValidator } from '../contract/ajv';
import { describeFaults, withClosedObjects } from './answer-schemas';

// Only the schemas of the rows are read: no row runs.
const rows = createRoutes({ public_url: '' } as RouteDependencies);
const validator = createValidator();
const checks = new Map(
  rows.map(({ verb, path, answer }) => [
    `${verb.toUpperCase()} ${path}`,
    validator.compile(withClosedObjects(answer) as object),
  ]),
);

/** The row of a request: its path, with the values of this request, or as the row has it. */
const pathOf = (path: string): string | undefined =>
  rows.find((row) => new RegExp(`^${row.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path))?.path;

/** The paths of the reads that answer with JSON. */
export const READS = rows
  .filter(({ verb, path }) => verb === 'get' && path !== '/events/stream')
  .map(({ path }) => path);

/** The faults of a successful answer; empty if it matches its row, or if it is an endpoint's. */
export function faultsOf(method: string, url: string, body: Record<string, unknown>): string[] {
  const [path = ''] = url.split('?');
  if (path.startsWith('/v1/')) return [];
  const check = checks.get(`${method} ${pathOf(path) ?? path}`);
  if (!check) return [`${method} ${path} has no row`];
  const { success, ...answer } = body;
  const faults = success === true ? [] : ['success is not true'];
  return check(answer) ? faults : [...faults, ...describeFaults(check)];
}
