export * from './component';
export * from './run';
export * from './turns';
export * from './wait';
