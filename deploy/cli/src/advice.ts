// Advice for a service that does not respond. It depends on where the command line runs: in a pod
// of the chart, or beside the mesh of `make up`.

/** Kubernetes sets this in every pod. */
const isInCluster = (env: NodeJS.ProcessEnv): boolean =>
  env['KUBERNETES_SERVICE_HOST'] !== undefined;

/** For a gateway that reports a service as down. */
export const readLogs = (env: NodeJS.ProcessEnv = process.env): string =>
  isInCluster(env)
    ? 'read the log of the service that is down: kubectl logs deploy/bmg-<name>'
    : 'read the log of the service that is down (.run/<name>.log), then start it with make up';

/** For a service that does not respond; `setting` holds its address. */
export const findService = (setting: string, env: NodeJS.ProcessEnv = process.env): string =>
  isInCluster(env)
    ? `look at its pods (kubectl get pods, kubectl logs), or set ${setting} to its address`
    : `start the mesh (make up), or set ${setting} to its address`;
