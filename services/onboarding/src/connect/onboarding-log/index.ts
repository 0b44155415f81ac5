export * from './onboarding-log';
export * from './store';
