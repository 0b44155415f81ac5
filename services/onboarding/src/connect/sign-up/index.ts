export { signUpApp, type SignUpSettings } from './dialog-config';
export { createSignUp } from './feature';
export * from './store/code-exchanges';
export * from './store/connect-sessions';
