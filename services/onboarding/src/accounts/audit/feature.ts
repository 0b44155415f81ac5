import { createPool } from '@bmg/common/overload';
import { implement } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import { AuditDefinition } from '@bmg/proto/audit';
import type { Feature } from '../../ground/feature';
import { createAuditHandlers, type AuditDependencies } from './handlers';

const EXPORTS_MAX = 8;

export function createAudit(
  deps: Omit<AuditDependencies, 'auditExports' | 'log'> & { log: Logger },
): Feature {
  const auditExports = createPool(
    { server: 'audit', reason: 'exports', holder: 'partner', max: EXPORTS_MAX },
    deps.log,
  );
  return { rpcs: [implement(AuditDefinition, createAuditHandlers({ ...deps, auditExports }))] };
}
