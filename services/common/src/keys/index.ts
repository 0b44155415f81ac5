export { createAddressCheck, isAddressRange, isWithinRanges } from './addresses';
export {
  CONNECT_TOKEN_PREFIX,
  createKey,
  hashKey,
  isWellFormedKey,
  keyHint,
  PARTNER_KEY_PREFIX,
} from './partner-key';
export { createPeppers, firstKnown, pepperFault, type Peppers } from './peppers';
export { isKeyScope, KEY_SCOPES, type KeyScope } from './scopes';
