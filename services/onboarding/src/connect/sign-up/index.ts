export * from './store/code-exchanges';
export * from './store/connect-sessions';
