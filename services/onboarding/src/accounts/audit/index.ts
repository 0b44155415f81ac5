export { checkChain } from './sealer';
