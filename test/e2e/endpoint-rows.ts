// The endpoint table as tests go through it.
import { endpoints } from '../../gateway/src/endpoints';
import type { Endpoint } from '../../gateway/src/endpoints/endpoint';
import { documentPath } from '../../gateway/src/openapi';

/** The rows of the table, under the names that a report shows. */
export const ROWS = endpoints.map(
  (endpoint) => [`${endpoint.verb} ${documentPath(endpoint)}`, endpoint] as const,
);

const UNKNOWN_WABA = '1234567890';

/** What a request needs that changes nothing, even where it is allowed. */
export const harmless = ({ path, scope, body }: Endpoint) => ({
  path: path.replace(/:\w+/g, 'none'),
  body: body ? {} : undefined,
  headers: (scope === 'number' ? { 'x-waba-id': UNKNOWN_WABA } : {}) as Record<string, string>,
});
