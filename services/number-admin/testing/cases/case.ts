// The shape of a case, and the values that the cases share.
import type { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { NUMBER, WABA } from '../build';
import type { Answer, SentRequest } from '../upstream-stub';

export type Method = keyof NumberAdminDefinition['methods'];

export interface Case {
  method: Method;
  request?: object;
  answers: Answer[];
  sent: Array<Partial<SentRequest>>;
  reply: unknown;
}

export const OK = { success: true };
export const BASE = '/v26.0';
export const ON_NUMBER = `${BASE}/${NUMBER}`;
export const ON_WABA = `${BASE}/${WABA}`;
export const PRODUCT = { messaging_product: 'whatsapp' };
export const QR = {
  code: 'AB2CD3EF4GH5IJ',
  prefilled_message: 'Hi',
  deep_link_url: 'https://links.example/AB2CD3EF4GH5IJ',
};
export const GROUP_ID = 'Y2FwaV9ncm91cDpJTlZFTlRFRA==';
export const GROUP_PATH = `${BASE}/Y2FwaV9ncm91cDpJTlZFTlRFRA%3D%3D`;
export const PAGING = {
  cursors: { before: 'b1', after: 'a1' },
  next: 'https://upstream/?access_token=x',
};
export const CURSORS = { before: 'b1', after: 'a1' };
