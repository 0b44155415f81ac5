// The rows of the console's API for the request log.
import { isErrorCode } from '@bmg/common/errors';
import type { LoggedRequest } from '@bmg/proto/onboarding';
import { actionOf } from '../audit/audited';
import { compile } from '../endpoints/parts/schema';
import { ERROR_GUIDE } from '../error-guide';
import * as answers from './answers';
import { get, type Route, type RouteDependencies } from './route';
import * as schemas from './schemas';

const FAILED = [4, 5];

const checkQuery = compile(schemas.listRequests, 'query');

export const requestRoutes = ({ onboarding, endpoints }: RouteDependencies): Route[] => [
  get('/requests', answers.requests, {}, async ({ partner_id }, { context, call }) => {
    const { status, limit = 0, ...filter } = checkQuery(context.query);
    const status_classes = status === 'failed' ? FAILED : status ? [Number(status)] : [];
    const asked = { partner_id, status_classes, limit, ...filter };
    const { requests, after } = await onboarding.listRequests(asked, call);
    return { requests: requests.map(explained), after };
  }),
  get('/requests/endpoints', answers.request_endpoints, {}, async () => ({
    endpoints: endpoints.map(actionOf),
  })),
];

const explained = (request: LoggedRequest): object => ({
  ...request,
  ...(request.code !== undefined && isErrorCode(request.code) && ERROR_GUIDE[request.code]),
});
