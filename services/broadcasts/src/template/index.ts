export type { FindTemplate, FoundTemplate } from './find';
export { type Filler, type Json, createFiller, readParams } from './params';
export { contactFault, validateContacts } from './rules';
