export { dayOf, dayStart, isDay } from './days';
export { hoursOf } from './hours';
export { periodOf, type Period } from './period';
