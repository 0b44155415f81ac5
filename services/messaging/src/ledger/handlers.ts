// The RPCs of the ledger: reads for partners, the closing of months for the operator.
import type { Handlers } from '@bmg/common/rpc';
import type { LedgerDefinition, ListMonthsResponse } from '@bmg/proto/ledger';
import { closeMonth, type ClosingDependencies } from './closing';
import { exportLedger, getLedger, type LedgerDependencies } from './read-ledger';

export function createLedgerHandlers(
  deps: LedgerDependencies & ClosingDependencies,
): Handlers<LedgerDefinition> {
  const listMonths = async (): Promise<ListMonthsResponse> => ({
    months: (await deps.ledgerMonths.list()).map(({ _id, ...month }) => ({ month: _id, ...month })),
  });
  return {
    getLedger: (request, call) => getLedger(deps, request, call),
    exportLedger: (request, call) => exportLedger(deps, request, call),
    async closeMonth({ month }) {
      await closeMonth(deps, month);
      return listMonths();
    },
    listMonths,
  };
}
