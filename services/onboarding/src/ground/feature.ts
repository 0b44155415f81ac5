// What a room adds to the service; RPCs that several rooms serve together are its `handlers`.
import type { Received } from '@bmg/common/bus';
import type { Component } from '@bmg/common/lifecycle';
import type { Implementation } from '@bmg/common/rpc';
import type { Event, Statuses, Usage } from '@bmg/proto/stream';

export interface Feature {
  rpcs?: Implementation[];
  handlers?: object;
  components?: Component[];
  consumers?: {
    usage?(batch: Received<Usage>[]): Promise<void>;
    account?(batch: Received<Event>[]): Promise<void>;
    status?(batch: Received<Statuses>[]): Promise<void>;
  };
}
