// A contact of a broadcast, as it is stored.
import { parseBsuid } from '@bmg/common/ids';

export interface Contact {
  /** Digits of a phone number, or a BSUID. */
  recipient: string;
  params: Params | null;
}

/** A string, or a whole upstream parameter such as {type: 'currency', currency: {...}}. */
export type Param = string | Record<string, unknown>;

/** Each parameter under the number or the name of its variable in the template. */
export type Params = Record<string, Param>;

export const isBsuid = (recipient: string): boolean => parseBsuid(recipient) !== null;
