export { fakeClock, systemClock } from './clock';
export type { Cancel, Clock, FakeClock } from './clock';
