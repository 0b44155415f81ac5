// A balancer that sends all calls with the same route to the same replica (rendezvous hashing): of the
// connected ones, the one whose hash with the route is the highest. A replica that comes or goes moves
// only the routes that belong to it.
import { createHash } from 'node:crypto';
import { connectivityState, experimental, Metadata, status } from '@grpc/grpc-js';

export const RENDEZVOUS = 'bmg_rendezvous';
/** The metadata of a call that names its route. */
export const ROUTE = 'bmg-route';

type Helper = experimental.ChannelControlHelper;
type Leaf = experimental.LeafLoadBalancer;

const scoreOf = (route: string, address: string): string =>
  createHash('sha256').update(`${route}\n${address}`).digest('hex');

/** Of these addresses, the one that a route belongs to. */
export const addressFor = (route: string, addresses: readonly string[]): string | undefined =>
  addresses
    .map((address) => ({ address, score: scoreOf(route, address) }))
    .sort((a, b) => (a.score < b.score ? 1 : -1))[0]?.address;

class Config implements experimental.TypedLoadBalancingConfig {
  getLoadBalancerName = (): string => RENDEZVOUS;
  toJsonObject = (): object => ({ [RENDEZVOUS]: {} });
  static createFromJson = (): Config => new Config();
}

class Picker implements experimental.Picker {
  constructor(private readonly ready: ReadonlyMap<string, experimental.Picker>) {}

  pick(args: experimental.PickArgs): experimental.PickResult {
    const route = String(args.metadata.get(ROUTE)[0] ?? '');
    const address = addressFor(route, [...this.ready.keys()]) ?? '';
    return (this.ready.get(address) as experimental.Picker).pick(args);
  }
}

class Balancer implements experimental.LoadBalancer {
  private children: Leaf[] = [];
  private addresses: string[] = [];
  private last_error: string | null = null;
  private state = connectivityState.IDLE;
  private readonly child_helper: Helper;

  constructor(private readonly helper: Helper) {
    this.child_helper = experimental.createChildChannelControlHelper(helper, {
      updateState: (_state, _picker, error) => {
        if (error) this.last_error = error;
        if (this.state === connectivityState.READY && !this.has(connectivityState.READY)) {
          this.helper.requestReresolution();
        }
        this.update();
      },
    });
  }

  updateAddressList(
    list: experimental.StatusOr<experimental.Endpoint[]>,
    config: experimental.TypedLoadBalancingConfig,
    options: object,
    note: string,
  ): boolean {
    if (!(config instanceof Config)) return false;
    if (!list.ok) {
      if (this.children.length === 0) this.fail(list.error.details);
      return true;
    }
    this.destroy();
    this.addresses = list.value.map((endpoint) => experimental.endpointToString(endpoint));
    this.children = list.value.map(
      (endpoint) => new experimental.LeafLoadBalancer(endpoint, this.child_helper, options, note),
    );
    if (this.children.length === 0) this.last_error = `no addresses: ${note}`;
    for (const child of this.children) child.startConnecting();
    this.update();
    return true;
  }

  exitIdle(): void {}
  resetBackoff(): void {}
  destroy(): void {
    for (const child of this.children.splice(0)) child.destroy();
  }
  getTypeName = (): string => RENDEZVOUS;

  private has(state: connectivityState): boolean {
    return this.children.some((child) => child.getConnectivityState() === state);
  }

  private update(): void {
    if (this.has(connectivityState.READY)) {
      const ready = this.children.flatMap((child, at) =>
        child.getConnectivityState() === connectivityState.READY
          ? [[this.addresses[at] ?? '', child.getPicker()] as const]
          : [],
      );
      this.set(connectivityState.READY, new Picker(new Map(ready)));
    } else if (this.has(connectivityState.CONNECTING)) {
      this.set(connectivityState.CONNECTING, new experimental.QueuePicker(this));
    } else this.fail(this.last_error ?? 'no connection');
    for (const child of this.children) {
      if (child.getConnectivityState() === connectivityState.IDLE) child.exitIdle();
    }
  }

  private fail(details: string): void {
    const error = { code: status.UNAVAILABLE, details, metadata: new Metadata() };
    this.set(
      connectivityState.TRANSIENT_FAILURE,
      new experimental.UnavailablePicker(error),
      details,
    );
  }

  private set(state: connectivityState, picker: experimental.Picker, error?: string): void {
    this.state = state;
    this.helper.updateState(state, picker, error ?? null);
  }
}

experimental.registerLoadBalancerType(RENDEZVOUS, Balancer, Config);
