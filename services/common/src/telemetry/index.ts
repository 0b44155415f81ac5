export * from './span';
export * from './waits';
export { PROCESS_NAME } from './process-name';
export { createLogger, flushLogs, traceIds, type Logger } from './log';
export { metrics, metricsRegister } from './metrics';
export { renderMetrics, type Timed } from './timed';
