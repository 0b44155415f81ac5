export { parseExact, reviverOf } from './exact';
