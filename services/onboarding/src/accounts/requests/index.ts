export { REQUESTS } from './store';
