export { isParentBsuid, parseBsuid } from './bsuid';
export { contentId, newId } from './new-id';
export { maskPhone, normalisePhone } from './phone';
