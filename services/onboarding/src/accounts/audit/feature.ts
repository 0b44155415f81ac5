import { createPool } from '@bmg/common/overload';
import { implement } from '@bmg/common/rpc';
import { AuditDefinition } from '@bmg/proto/audit';
import type { Dependencies } from '../../dependencies';
import { createAuditHandlers } from './handlers';

const EXPORTS_MAX = 8;

export const wireAudit = (deps: Dependencies) => ({
  rpcs: [
    implement(
      AuditDefinition,
      createAuditHandlers({
        ...deps,
        auditExports: createPool(
          { server: 'audit', reason: 'exports', holder: 'partner', max: EXPORTS_MAX },
          deps.log,
        ),
      }),
    ),
  ],
});
