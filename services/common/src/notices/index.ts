export { API_VERSION, highestSeverity, NOTICES, type Notice, type Severity } from './notices';
