export { countedMessageIndexes, createDailyCounts, DAILY_COUNTS, dailyCountIndexes } from './store';
