import { Client as ClientMessage } from '@bmg/proto/onboarding';
import { dataSyncOf } from '../sync';
import type { Client } from '../../ground/clients';
import { messageOf } from '../../ground/message';

/** A stored client as the message that partners see. Only the operator's has the partner. */
export const clientMessage = (client: Client): ClientMessage =>
  messageOf(ClientMessage, { ...client, partner_id: undefined, data_sync: dataSyncOf(client) });
