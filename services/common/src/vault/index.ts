export { createKeyUse, KEY_USES } from './key-use';
export { createVault, KEYRING_PATTERN, type Sealed, type SealedBytes, type Vault } from './vault';
