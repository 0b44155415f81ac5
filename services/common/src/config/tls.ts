// The three files of a process's identity on gRPC. A process has one identity, so that they are read here
// once for all its servers and clients instead of being handed through every composition root; the table
// of each service (`fields.shared`) has them too, where they are validated and documented.
export interface TlsSettings {
  GRPC_TLS_CERT_FILE?: string | undefined;
  GRPC_TLS_KEY_FILE?: string | undefined;
  GRPC_TLS_CA_FILE?: string | undefined;
}

export function processTls(env: NodeJS.ProcessEnv = process.env): TlsSettings {
  const { GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE, GRPC_TLS_CA_FILE } = env;
  return { GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE, GRPC_TLS_CA_FILE };
}
