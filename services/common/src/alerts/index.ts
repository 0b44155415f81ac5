export { REPORT_EVERY_MS, reportAlerts, type ReportDependencies } from './report';
