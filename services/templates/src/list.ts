// GET /templates: the complete list of an account's templates, collected from the upstream's pages.
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import { eachPage, segment, type Json, type Upstream } from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';
import type { ListRoom } from './list-room';

/** What a request for the templates of a target needs. */
export interface Access {
  upstream: Upstream;
  token: (target: Target, call: Call) => Promise<string>;
}

/** Contract 8.1. Quality and rejection reasons arrive by events instead. */
export interface ListedTemplate {
  id: string;
  name: unknown;
  language: unknown;
  category: unknown;
  status: unknown;
  components: unknown[];
}

interface TemplateList {
  templates: ListedTemplate[];
  /** False if a limit below truncated the list. */
  complete: boolean;
}

const FIELDS = 'id,name,language,category,status,components';
const PAGE_SIZE = 100;
/** An account has at most 6,000 templates. */
const PAGES_MAX = 61;
/** Below the gRPC message limit, with room for the envelope. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;

export async function listTemplates(
  access: Access,
  target: Target,
  call: Call,
  /** `name`: only the templates whose names have it. */
  { name, room }: { name?: string; room?: ListRoom } = {},
): Promise<TemplateList> {
  const templates: ListedTemplate[] = [];
  const token = await access.token(target, call);
  let size_bytes = 0;
  const ask = (after: string | undefined): Promise<Json> =>
    access.upstream.request(
      {
        operation: 'GET /{waba_id}/message_templates',
        method: 'GET',
        path: `/${segment(target.waba_id)}/message_templates`,
        query: { fields: FIELDS, limit: PAGE_SIZE, after, name },
        token,
      },
      call,
    );
  for await (const { body, next } of eachPage(ask, PAGES_MAX)) {
    for (const node of readPage(body)) {
      const template = listed(node);
      const bytes = Buffer.byteLength(JSON.stringify(template));
      room?.grow(bytes);
      size_bytes += bytes;
      if (size_bytes > LIST_BYTES_MAX) return { templates, complete: false };
      templates.push(template);
    }
    if (next === undefined) return { templates, complete: true };
  }
  return { templates, complete: false };
}

/** The templates of exactly this name, one for each language. */
export async function templatesNamed(
  access: Access,
  target: Target,
  name: string,
  call: Call,
): Promise<ListedTemplate[]> {
  const { templates } = await listTemplates(access, target, call, { name });
  return templates.filter((template) => template.name === name);
}

function readPage({ data }: Json): Json[] {
  if (Array.isArray(data)) return data as Json[];
  throw new ApiError('UPSTREAM_ERROR', 'the upstream returned no list of templates', {
    retryable: true,
  });
}

/** Ids become strings: as numbers they exceed the safe integers. */
const listed = ({ id, name, language, category, status, components }: Json): ListedTemplate => ({
  id: String(id ?? ''),
  name,
  language,
  category,
  status,
  components: Array.isArray(components) ? components : [],
});
