export * from './span';
export { createLogger, flushLogs, traceIds, type Logger } from './log';
export { metrics, metricsRegister } from './metrics';
export { renderMetrics, type Timed } from './timed';
