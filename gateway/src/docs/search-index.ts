// The index that the documentation's search uses: sections of guides, endpoints, events and error
// codes.
import { CATALOG, type ErrorCode } from '@bmg/common/errors';
import { ERROR_GUIDE } from '../error-guide';
import type { Guide } from './guides';
import { operationsOf, type OpenApiDocument } from '../openapi';

export interface Entry {
  /** The address, relative to `/docs/`. */
  id: string;
  title: string;
  page: string;
  text: string;
}

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
  const endpoints = operationsOf(document).map(({ verb, path, operation }) => ({
    id: `reference#${operation.operationId}`,
    title: `${verb.toUpperCase()} ${path}`,
    page: operation.summary,
    text: `${operation.operationId} ${operation.summary} ${operation.description ?? ''}`,
  }));
  const events = Object.entries(document.webhooks).map(([name, { post }]) => ({
    id: `reference#${name}`,
    title: name,
    page: `Event: ${post.summary}`,
    text: post.summary,
  }));
  const codes = (Object.keys(CATALOG) as ErrorCode[]).map((code) => ({
    id: `errors#${code}`,
    title: code,
    page: `Error code, HTTP ${CATALOG[code].http}`,
    text: `${ERROR_GUIDE[code].meaning} ${ERROR_GUIDE[code].action}`,
  }));
  return [...sections, ...endpoints, ...events, ...codes];
}
