export * from './accounts';
export * from './code-exchange';
export * from './data-sync';
