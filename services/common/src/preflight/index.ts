export * from './findings';
export * from './template-fit';
