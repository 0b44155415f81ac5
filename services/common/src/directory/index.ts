export * from './credentials';
export * from './refusals';
export * from './versioned-cache';
export * from './versions';
