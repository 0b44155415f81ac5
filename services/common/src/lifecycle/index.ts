export { run, startService, type Component, type Running, type Service } from './run';
export { pause, waitFor } from './wait';
export { createPoller, type Poller } from './poller';
