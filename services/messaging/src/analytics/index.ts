export { createDailyCounts, DAILY_COUNTS, dailyCountIndexes } from './store';
