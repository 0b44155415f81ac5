export { type Content, contentOf } from './content';
export { failingAsNotSent, uploadedOnce } from './outcome-errors';
export { createRefusedTokens, REFUSED_TOKENS, refusedTokenIndexes } from './refused-tokens';
