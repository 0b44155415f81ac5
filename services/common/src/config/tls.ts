// The files of a process's gRPC identity. A process has one identity, so servers and clients read
// it here instead of getting it through every composition root. `fields.shared` validates and
// documents the settings.
export interface TlsSettings {
  GRPC_TLS_CERT_FILE?: string | undefined;
  GRPC_TLS_KEY_FILE?: string | undefined;
  GRPC_TLS_CA_FILE?: string | undefined;
}

export function processTls(env: NodeJS.ProcessEnv = process.env): TlsSettings {
  const { GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE, GRPC_TLS_CA_FILE } = env;
  return { GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE, GRPC_TLS_CA_FILE };
}
