// The index that the documentation's search uses: sections of guides, endpoints, events and error
// codes.
import { CATALOG } from '@bmg/common/errors';
import { ERROR_CODES, ERROR_GUIDE } from '../error-guide';
import type { Guide } from './guides';
import { referenceAddresses } from './reference';
import { operationsOf, type OpenApiDocument } from '../openapi';

export interface Entry {
  /** The address, relative to `/docs/`. */
  id: string;
  title: string;
  page: string;
  text: string;
  /** Other words that readers have for it. */
  names?: string;
}

/** What newcomers call a thing that the pages name otherwise, by the entry that answers. */
export const NAMES: Readonly<Record<string, string>> = {
  'agents#documents-for-tools': 'postman collection, openapi, swagger',
  'client#typescript': 'npm install, sdk, javascript, node library',
  embedding: 'iframe, embedded sign-up, popup, widget',
  'keys#scopes': 'api key scopes, permissions of a key, read-only key',
  'limits#events-and-data': 'delete customer data, gdpr, data protection, retention',
  'limits#requests': 'rate limit, throughput',
  'people#passkeys': 'two-factor, 2fa, mfa, log in without a password',
  'quick-start': 'quickstart, get started, hello world, tutorial, first message',
  'quick-start#3-watch-it-arrive': 'message status, delivery receipt, read receipt',
  'receiving#answer': 'outgoing ip addresses, allow list, firewall',
  'receiving#recover': 'retry failed events, missed events',
  'recipes#link-button': 'cta url',
  'recipes#location-request': 'ask for a location, ask for an address',
  'reference/webhook-endpoints#rotateWebhookSecret': 'rotate webhook secret, new signing secret',
  'reference/webhook-endpoints#updateWebhook': 'change webhook url, set callback url',
  'sending#kinds': '24 hour window, window closed, customer service window',
  'sending#recipients': 'business-scoped id, bsuid',
  'templates#create-one': 'approval of a template, template review',
  testing: 'test mode, sandbox, test number, test account, simulator',
};

export function searchIndex(document: OpenApiDocument, guides: readonly Guide[]): Entry[] {
  const sections = guides.flatMap(({ slug, title: page, sections: parts }) =>
    parts
      .filter(({ anchor }) => !(anchor in CATALOG))
      .map(({ title, anchor, text }) => ({
        id: anchor === '' ? slug : `${slug}#${anchor}`,
        title,
        page,
        text,
      })),
  );
  const addresses = referenceAddresses(document);
  const endpoints = operationsOf(document).map(({ verb, path, operation }) => ({
    id: addresses.get(operation.operationId) ?? '',
    title: `${verb.toUpperCase()} ${path}`,
    page: operation.summary,
    text: `${operation.operationId} ${operation.summary} ${operation.description ?? ''}`,
  }));
  const events = Object.entries(document.webhooks).map(([name, { post }]) => ({
    id: addresses.get(name) ?? '',
    title: name,
    page: `Event: ${post.summary}`,
    text: post.summary,
  }));
  const codes = ERROR_CODES.map((code) => ({
    id: `errors#${code}`,
    title: code,
    page: `Error code, HTTP ${CATALOG[code].http}`,
    text: `${ERROR_GUIDE[code].meaning} ${ERROR_GUIDE[code].action}`,
  }));
  return [...sections, ...endpoints, ...events, ...codes].map((entry) => {
    const names = NAMES[entry.id];
    return names === undefined ? entry : { ...entry, names };
  });
}
