import { createByteRate, createPool } from '@bmg/common/overload';
import { implement } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { LedgerDefinition } from '@bmg/proto/ledger';
import type { Dependencies } from '../dependencies';
import { createCategoryLookup } from './category-lookup';
import { createClosing } from './closing';
import { createLedgerHandlers } from './handlers';
import { EXPORT_BYTES_PER_S, LEDGER_READS_MAX } from './read-ledger';
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
  return {
    rpcs: [implement(LedgerDefinition, createLedgerHandlers(deps))],
    workers: [createClosing(deps), createSpendAlerts(deps)],
  };
}
