// The ledger: reads for partners, the closing of months for the operator, spend alerts.
import { createByteRate, createPool } from '@bmg/common/overload';
import { implement } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { LedgerDefinition, type ListMonthsResponse } from '@bmg/proto/ledger';
import type { Dependencies } from '../dependencies';
import { createCategoryLookup } from './category-lookup';
import { createClosing, closeMonth } from './closing';
import { EXPORT_BYTES_PER_S, LEDGER_READS_MAX, exportLedger, getLedger } from './read-ledger';
import { createSpendAlerts } from './spend-alerts';

export function ledger(shared: Dependencies): Feature {
  const { templates, config, log } = shared;
  const deps = {
    ...shared,
    categories: createCategoryLookup(templates, log),
    ledgerReads: createPool(
      { server: 'ledger', reason: 'reads', holder: 'partner', max: LEDGER_READS_MAX },
      log,
    ),
    exportRate: createByteRate(EXPORT_BYTES_PER_S),
    close_days: config.LEDGER_CLOSE_DAYS,
  };
  const listMonths = async (): Promise<ListMonthsResponse> => ({
    months: (await deps.ledgerMonths.list()).map(({ _id, ...month }) => ({ month: _id, ...month })),
  });
  return {
    rpcs: [
      implement(LedgerDefinition, {
        getLedger: (request, call) => getLedger(deps, request, call),
        exportLedger: (request, call) => exportLedger(deps, request, call),
        async closeMonth({ month }) {
          await closeMonth(deps, month);
          return listMonths();
        },
        listMonths,
      }),
    ],
    workers: [createClosing(deps), createSpendAlerts(deps)],
  };
}
