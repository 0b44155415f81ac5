// The upstream request for the data sync of a number that stays in use in the business app
// (coexistence).
import { ApiError, toApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import { segment, type Upstream } from '@bmg/common/upstream';

export type SyncType = 'smb_app_state_sync' | 'history';
export type SyncOutcomes = Record<SyncType, string>;

/** `requested`, or `failed: <reason>`: a registration never fails because of its sync. */
export interface SyncAnswer {
  outcome: string;
  failure?: ApiError;
  /** Nothing was sent: the token no longer belongs to the number. */
  replaced?: boolean;
}

interface SyncRequest {
  phone_number_id: string;
  type: SyncType;
  token: string;
  /** Called right before the write: true while the token belongs to the number. */
  isCurrent(): Promise<boolean>;
}

/** The upstream's code for a sync that was requested before: as good as accepted. */
const ALREADY_REQUESTED = 2593107;

export async function requestSync(
  upstream: Upstream,
  { phone_number_id, type, token, isCurrent }: SyncRequest,
  call: Call,
): Promise<SyncAnswer> {
  let replaced = false;
  const beforeWrite = async (): Promise<void> => {
    replaced = !(await isCurrent());
    if (!replaced) return;
    throw new ApiError('SERVICE_UNAVAILABLE', 'the number was registered again: nothing was sent', {
      retryable: true,
    });
  };
  try {
    await upstream.request(
      {
        operation: 'POST /{phone_number_id}/smb_app_data',
        method: 'POST',
        path: `/${segment(phone_number_id)}/smb_app_data`,
        body: { messaging_product: 'whatsapp', sync_type: type },
        token,
        beforeWrite,
      },
      call,
    );
    return { outcome: 'requested' };
  } catch (error) {
    const failure = toApiError(error);
    if (failure.upstream_code === ALREADY_REQUESTED) return { outcome: 'requested' };
    return { outcome: `failed: ${failure.message}`, failure, replaced };
  }
}
