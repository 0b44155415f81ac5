// The calls of the usage record that the partner's own programs made.
import type { Usage } from './api/types';

const OF_CONSOLE = 'console ';

/** Excludes the reads of the console's pages, which have rows of their own. */
export function ownCallsOf({ endpoints }: Pick<Usage, 'endpoints'>): {
  calls: number;
  errors: number;
} {
  const own = endpoints.filter(({ endpoint }) => !endpoint.startsWith(OF_CONSOLE));
  return {
    calls: own.reduce((sum, row) => sum + row.calls, 0),
    errors: own.reduce((sum, row) => sum + row.errors, 0),
  };
}
