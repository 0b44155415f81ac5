export * from './once';
export * from './outcome';
