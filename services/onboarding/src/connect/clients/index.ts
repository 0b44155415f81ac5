export { clientMessage } from './message';
export { restoreAccount, storeClient } from './register';
