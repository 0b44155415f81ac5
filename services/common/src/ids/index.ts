export { BSUID_PATTERN, isParentBsuid, PARENT_BSUID_PATTERN, parseBsuid } from './bsuid';
export { contentId, newId } from './new-id';
export { isSameNumber, numberKey, spellingsOf } from './number-equality';
export { maskPhone, normalisePhone, PHONE_PATTERN } from './phone';
