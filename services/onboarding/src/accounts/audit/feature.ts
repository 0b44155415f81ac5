import { createPool } from '@bmg/common/overload';
import { implement } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { AuditDefinition } from '@bmg/proto/audit';
import type { Dependencies } from '../../dependencies';
import { createAuditHandlers } from './handlers';
import { createSealer } from './sealer';

const EXPORTS_MAX = 8;

export function audit(deps: Dependencies): Feature {
  const auditExports = createPool(
    { server: 'audit', reason: 'exports', holder: 'partner', max: EXPORTS_MAX },
    deps.log,
  );
  return {
    rpcs: [implement(AuditDefinition, createAuditHandlers({ ...deps, auditExports }))],
    workers: [createSealer(deps)],
  };
}
