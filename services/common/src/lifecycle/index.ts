export type { Component, Service } from './component';
export { run, startService, type Running } from './run';
export { anySignal, pause, waitFor, within } from './wait';
export { createPoller, type Poller } from './poller';
export { inTurn, inTurns } from './turns';
