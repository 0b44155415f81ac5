export { signUpApp, type SignUpSettings } from './dialog-config';
export * from './store/code-exchanges';
export * from './store/connect-sessions';
