export { createAudit } from './feature';
export { AUDIT_CHAIN, auditChainIndexes, createAuditChain, type AuditChain } from './chain-store';
export { checkChain, type SealerDependencies } from './sealer';
export * from './store';
