import type { Feature } from '@bmg/common/service';
import type { Dependencies } from '../dependencies';
import { applyStatuses } from './statuses';

export const messageRecords = ({ messages }: Dependencies): Feature => ({
  consumers: { status: applyStatuses(messages) },
  buffers: [{ name: 'records', start: async () => undefined, stop: () => messages.drain() }],
});
