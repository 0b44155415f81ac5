export { createOverdueRecords } from './store';
