import { TemplatesDefinition } from '@bmg/proto/templates';
import * as docs from './docs';
import * as schemas from './schemas';
import { del, get, patch, post, rpc, type Endpoint } from '../endpoint';
import { FILE_TIMEOUT_MS, nodeUnder, pageUnder } from '../parts/rows';

/** The list of a large account has many upstream pages. */
const LIST_TIMEOUT_MS = 60_000;

/** A few hundred templates. Beyond it, the service bounds a partner's concurrent lists. */
const LIST_BYTES = 512 * 1024;

export const templates: Endpoint[] = [
  get('/templates', rpc(TemplatesDefinition, 'listTemplates'), {
    scope: 'number',
    reads: 'list',
    answer_bytes: () => LIST_BYTES,
    timeout_ms: LIST_TIMEOUT_MS,
    reply: ({ templates }) => ({
      templates,
      total: templates.length,
    }),
    docs: docs.listTemplates,
    summary: 'List the templates of a business account',
  }),
  post('/templates', rpc(TemplatesDefinition, 'createTemplate'), {
    scope: 'number',
    idempotent: true,
    audit: { values: ['name', 'language', 'category'], ids: { template_id: 'fields.id' } },
    status: 201,
    body: schemas.createTemplate,
    request: ({ body, target }) => ({ template: body, target }),
    reply: ({ fields }) => ({ template: fields }),
    docs: docs.createTemplate,
    summary: 'Create a template and submit it for approval',
  }),
  post('/templates/upload-header', rpc(TemplatesDefinition, 'uploadHeader'), {
    scope: 'number',
    timeout_ms: FILE_TIMEOUT_MS,
    body: schemas.uploadHeader,
    docs: docs.uploadHeader,
    summary: 'Upload a sample file for a template header',
  }),
  get('/templates/analytics', rpc(TemplatesDefinition, 'getTemplateAnalytics'), {
    scope: 'number',
    addition: true,
    query: schemas.getTemplateAnalytics,
    reply: ({ items, after }, { target, query }) => ({
      waba_id: target.waba_id,
      period_days: query.days,
      data_points: items,
      ...(after !== undefined && { truncated: true }),
    }),
    docs: docs.getTemplateAnalytics,
    summary: 'Retrieve how templates did by day',
  }),
  get('/templates/library', rpc(TemplatesDefinition, 'listLibraryTemplates'), {
    scope: 'number',
    addition: true,
    query: schemas.listLibraryTemplates,
    reply: pageUnder('templates'),
    docs: docs.listLibraryTemplates,
    summary: 'List the templates of the upstream’s library',
  }),
  // OpenAPI has one name for one place of a path: here it is an ID.
  get('/templates/:template_name', rpc(TemplatesDefinition, 'getTemplate'), {
    scope: 'number',
    addition: true,
    request: ({ params, target }) => ({ template_id: params.template_name, target }),
    reply: nodeUnder('template'),
    docs: docs.getTemplate,
    summary: 'Retrieve a template with its quality',
  }),
  patch('/templates/:template_name', rpc(TemplatesDefinition, 'updateTemplate'), {
    scope: 'number',
    addition: true,
    audit: { values: ['category'] },
    body: schemas.updateTemplate,
    request: ({ body, params, target }) => ({
      template_id: params.template_name,
      changes: body,
      target,
    }),
    reply: nodeUnder('template'),
    docs: docs.updateTemplate,
    summary: 'Change a template and submit it for approval again',
  }),
  del('/templates/:template_name', rpc(TemplatesDefinition, 'deleteTemplate'), {
    scope: 'number',
    query: schemas.deleteTemplate,
    reply: () => ({}),
    docs: docs.deleteTemplate,
    summary: 'Delete a template in all languages, or in one',
  }),
];
