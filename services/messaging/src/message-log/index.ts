export { createMessageList } from './store';
