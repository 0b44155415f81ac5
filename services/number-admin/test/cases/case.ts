// The shape of a case, and the values and requests that the cases share.
import { NUMBER, WABA, type Method } from '../build';
import type { Answer, SentRequest } from '../upstream-stub';

export interface Case {
  method: Method;
  request?: object;
  /** Defaults to one success. */
  answers?: Answer[];
  sent: Array<Partial<SentRequest>>;
  /** Defaults to an empty one. */
  reply?: unknown;
}

type Query = SentRequest['query'];

export const get = (path: string, query: Query = {}) => ({ method: 'GET', path, query });
export const post = (path: string, body?: object) => ({ method: 'POST', path, query: {}, body });
export const del = (path: string, body?: object) => ({ method: 'DELETE', path, query: {}, body });

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
export const CURSORS = { before: 'b1', after: 'a1' };
export const PAGING = { cursors: CURSORS, next: 'https://upstream/?access_token=x' };
