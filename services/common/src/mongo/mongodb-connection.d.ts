// The driver does not publish the types of its connections.
declare module 'mongodb/lib/cmap/connection' {
  export class Connection {
    readonly socket: { readonly destroyed: boolean };
    onError(error: Error): void;
    writeCommand(command: unknown, options: unknown): Promise<void>;
  }
}
