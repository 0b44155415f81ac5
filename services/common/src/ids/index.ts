export { BSUID_PATTERN, isParentBsuid, parseBsuid } from './bsuid';
export { contentId, newId } from './new-id';
export { maskPhone, normalisePhone, PHONE_PATTERN } from './phone';
