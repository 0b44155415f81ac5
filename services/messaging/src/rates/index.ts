export { createRateCards, type RateCards } from './store';
