export * from './access';
export * from './certificates';
export * from './operator-secret';
