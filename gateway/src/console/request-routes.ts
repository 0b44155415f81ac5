// The rows of the console's API for the request log.
import { isErrorCode } from '@bmg/common/errors';
import type { LoggedRequest } from '@bmg/proto/onboarding';
import { actionOf } from '../audit/audited';
import type { Fields } from '../endpoints/endpoint';
import { compile } from '../endpoints/parts/schema';
import { ERROR_GUIDE } from '../error-guide';
import * as answers from './answers';
import type { Route, RouteDependencies } from './route';
import * as schemas from './schemas';

const FAILED = [4, 5];

const checkQuery = compile(schemas.listRequests, 'query');

export const requestRoutes = ({ onboarding, endpoints }: RouteDependencies): Route[] => [
  {
    verb: 'get',
    path: '/requests',
    answer: answers.requests,
    async run({ partner_id }, { context, call }) {
      const { status, limit = 0, ...filter } = checkQuery(context.query);
      const status_classes = status === 'failed' ? FAILED : status ? [Number(status)] : [];
      const found = await onboarding.listRequests(
        { partner_id, status_classes, limit, ...filter },
        call,
      );
      return { requests: found.requests.map(shown), after: found.after ?? null };
    },
  },
  {
    verb: 'get',
    path: '/requests/endpoints',
    answer: answers.request_endpoints,
    run: async () => ({ endpoints: endpoints.map(actionOf) }),
  },
];

const shown = ({ at, code, ...request }: LoggedRequest): Fields => ({
  ...request,
  at: at?.toISOString(),
  code: code ?? null,
  ...adviceOf(code),
  ignored: request.ignored ?? null,
  upstream_code: request.upstream_code ?? null,
  key_id: request.key_id ?? null,
  waba_id: request.waba_id ?? null,
  phone_number_id: request.phone_number_id ?? null,
  parameters: request.parameters ?? null,
  request_body: request.request_body ?? null,
  answer_body: request.answer_body ?? null,
});

const adviceOf = (code: string | undefined): { meaning: string | null; action: string | null } =>
  code !== undefined && isErrorCode(code) ? ERROR_GUIDE[code] : { meaning: null, action: null };
