export * from './key-use';
export * from './vault';
