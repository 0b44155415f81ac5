// The driver does not publish the types of its connections and their pools.
declare module 'mongodb/lib/cmap/connection' {
  export class Connection {
    readonly socket: { readonly destroyed: boolean };
    readonly socketTimeoutMS: number;
    command(
      namespace: unknown,
      command: { maxTimeMS?: number },
      ...rest: unknown[]
    ): Promise<unknown>;
    onError(error: Error): void;
    writeCommand(command: unknown, options: unknown): Promise<void>;
  }
}

declare module 'mongodb/lib/cmap/connection_pool' {
  export class ConnectionPool {
    readonly options: { readonly minPoolSize: number };
    readonly minPoolSizeTimer: NodeJS.Timeout | undefined;
    ensureMinPoolSize(): void;
  }
}
