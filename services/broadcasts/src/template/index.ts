export type { FindTemplate, FoundTemplate, ValidateTemplate } from './find';
export { type Filler, type Json, createFiller, readParams } from './params';
export { contactFault, validateContacts } from './rules';
