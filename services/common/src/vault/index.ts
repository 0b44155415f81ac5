export { createVault, KEYRING_PATTERN, type Sealed, type SealedBytes, type Vault } from './vault';
