export * from './event-ids';
export * from './event-names';
export * from './extra-events';
export * from './recipient';
export * from './state-records';
export * from './statuses';
