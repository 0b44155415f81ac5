export * from './define-service';
export * from './feature';
