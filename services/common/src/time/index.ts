export { dayOf, dayStart, isDay } from './days';
export { periodOf, type Period } from './period';
