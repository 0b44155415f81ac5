import type { Feature } from '@bmg/common/service';
import type { Dependencies } from '../dependencies';
import { giveWayToOwnSends } from '../pace/own-sends';

export const runner = ({ pace, runner: working }: Dependencies): Feature => ({
  consumers: {
    status: giveWayToOwnSends({
      pace,
      isActive: (phone_number_id) => working.isActive(phone_number_id),
    }),
  },
  workers: [working],
});
