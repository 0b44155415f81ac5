export { periodOf, type Period } from './period';
