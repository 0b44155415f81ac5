export * from './byte-rate';
export * from './http-server';
export * from './pool';
export * from './read-body';
export * from './refusals';
export * from './transfers';
