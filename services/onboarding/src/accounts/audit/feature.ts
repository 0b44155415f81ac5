import { createPool } from '@bmg/common/overload';
import { implement } from '@bmg/common/rpc';
import { AuditDefinition } from '@bmg/proto/audit';
import type { Feature } from '../../ground/feature';
import { createAuditHandlers, type AuditDependencies } from './handlers';
import { createSealer } from './sealer';

const EXPORTS_MAX = 8;

export function createAudit(deps: Omit<AuditDependencies, 'auditExports'>): Feature {
  const auditExports = createPool(
    { server: 'audit', reason: 'exports', holder: 'partner', max: EXPORTS_MAX },
    deps.log,
  );
  return {
    rpcs: [implement(AuditDefinition, createAuditHandlers({ ...deps, auditExports }))],
    components: [createSealer(deps)],
  };
}
