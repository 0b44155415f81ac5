export * from './check-settings';
export * from './settings';
