// Lists that the caller pages. A limit above the maximum is lowered, and the reply contains the
// limit used.
export interface PageRequest {
  limit?: number | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

/** The gateway lowers it too, but internal callers skip the gateway. */
export const usedLimit = ({ limit }: PageRequest, limit_max: number): number | undefined =>
  limit === undefined ? undefined : Math.min(limit, limit_max);

export const pageQuery = (request: PageRequest, limit_max: number) => ({
  limit: usedLimit(request, limit_max),
  after: request.after,
  before: request.before,
});
