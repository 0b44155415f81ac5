export { run, startService, type Component, type Running, type Service } from './run';
export { pause, waitFor, within } from './wait';
export { createPoller, type Poller } from './poller';
