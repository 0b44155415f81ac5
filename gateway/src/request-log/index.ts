export { isId, shownPaths } from './allowed';
export { hidden, recordOf } from './bodies';
export { createRequestLog, type RequestLog } from './request-log';
