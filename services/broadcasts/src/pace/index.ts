export { broadcastRate, createLead, inFlightMax, lastLeavesAt, limitOf, windowOf } from './pace';
export type { Pace, Slots } from './redis-pace';
