export { createVault, type Sealed, type SealedBytes, type Vault } from './vault';
