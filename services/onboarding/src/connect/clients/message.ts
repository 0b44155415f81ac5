import type { Client as ClientMessage } from '@bmg/proto/onboarding';
import { dataSyncOf } from '../sync';
import type { Client } from '../../ground/clients';

/** A stored client as the message that partners see: without its token and PIN. */
export const clientMessage = (client: Client): ClientMessage => ({
  waba_id: client.waba_id,
  phone_number_id: client.phone_number_id,
  phone_number: client.phone_number,
  display_name: client.display_name,
  connection_mode: client.connection_mode,
  status: client.status,
  tier: client.tier,
  quality_rating: client.quality_rating ?? undefined,
  messaging_limit_tier: client.messaging_limit_tier ?? undefined,
  throughput_level: client.throughput_level ?? undefined,
  registered_at: client.registered_at,
  last_activity_at: client.last_activity_at ?? undefined,
  health: client.health,
  data_sync: dataSyncOf(client),
});
