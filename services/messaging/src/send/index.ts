export {
  type Content,
  contactsContent,
  interactiveContent,
  locationContent,
  mediaContent,
  reactionContent,
  templateContent,
  textContent,
} from './content';
export { failingAsNotSent, uploadedOnce } from './outcome-errors';
export {
  createRefusedTokens,
  REFUSED_TOKENS,
  refusedTokenIndexes,
  type RefusedTokens,
} from './refused-tokens';
