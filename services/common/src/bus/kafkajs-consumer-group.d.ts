// kafkajs does not publish the types of its consumer groups.
declare module 'kafkajs/src/consumer/consumerGroup' {
  class ConsumerGroup {
    constructor(options: {
      logger: { namespace(name: string): unknown };
      instrumentationEmitter: { emit(event: string): void };
    });
    groupId: string;
    memberId: string | null;
    coordinator: {
      heartbeat(payload: unknown): Promise<unknown>;
      leaveGroup(payload: { groupId: string; memberId: string }): Promise<unknown>;
    } | null;
    /** Wall-clock time of the last heartbeat. */
    lastRequest: number;
    heartbeat(options: { interval: number }): Promise<void>;
    joinAndSync(): Promise<void>;
  }
  export = ConsumerGroup;
}
