// Whether a partner may do business now, and the code that each other status answers with.
import { ApiError } from '@bmg/common/errors';
import type { PartnerStatus } from '../store/partners';

export function refuseUnlessActive(status: PartnerStatus): void {
  switch (status) {
    case 'active':
      return;
    case 'subscription_cancelled':
      throw new ApiError('SUBSCRIPTION_CANCELLED', 'the subscription is cancelled');
    case 'trial_expired':
      throw new ApiError('TRIAL_EXPIRED', 'the trial is over');
    case 'suspended':
      throw new ApiError('PARTNER_SUSPENDED', 'this partner account is suspended');
  }
}
