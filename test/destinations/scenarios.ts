// What holds for an endpoint with a destination of each type, on a real server and a whole mesh:
// input, delivery with the same ID as everywhere, order, a server that hangs, retries, replay,
// change and end.
import { setIn, storedTexts } from '../e2e/stored';
import {
  JOIN_LIMIT_MS,
  joinMesh,
  ONE,
  type Answer,
  type Mesh,
  type TestPartner,
} from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { headerText, topicMessages } from '../testkit/topic-messages';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { WRONG, type DestinationServer, type StoredEvent } from './server';

const STORED_LIMIT_MS = 60_000;
/** The first retries of an event that failed while the server hung. */
const RETRIED_LIMIT_MS = 120_000;
const CONVERSATIONS = 3;
const EVENTS_OF_CONVERSATION = 5;
const DAY_MS = 86_400_000;

let count = 0;
const nextId = (): string => `wamid.D${process.pid}.${(count += 1)}`;

export function describeDestination(
  name: string,
  startServer: () => Promise<DestinationServer>,
  start_limit_ms: number,
): void {
  describe(`an endpoint at ${name}`, () => {
    let mesh: Mesh;
    let server: DestinationServer;

    beforeAll(async () => {
      [mesh, server] = await Promise.all([joinMesh(), startServer()]);
    }, JOIN_LIMIT_MS + start_limit_ms);
    afterAll(async () => {
      await mesh?.stop();
      await server?.stop();
    });

    async function newPartner(): Promise<TestPartner> {
      const partner = await mesh.createPartner();
      await partner.register(ONE);
      return partner;
    }
    const create = (partner: TestPartner, change: object = {}, more: object = {}) =>
      partner.call('POST', '/webhook-endpoints', {
        destination: { type: server.type, ...server.settings, ...change },
        events: ['message.*'],
        ...more,
      });
    async function addEndpoint(partner: TestPartner, more: object = {}): Promise<string> {
      const { status, body } = await create(partner, {}, more);
      expect([status, body.error]).toEqual([201, undefined]);
      return body.endpoint.endpoint_id as string;
    }
    const inbound = async (id: string, from = '15550100901'): Promise<void> => {
      expect(await postRaw(mesh.ingress_url, inboundBody(ONE, { from, id }))).toBe(200);
    };
    /** The ID that an event has at the partner's webhook URL. */
    const eventOf = (partner: TestPartner, message_id: string) =>
      eventually(
        () =>
          partner.receiver.arrivals.find(({ body }) => body.data['message_id'] === message_id)?.body
            .meta.event_id,
      );
    const storedAs = (event_id: string): StoredEvent[] =>
      server.stored.filter((one) => one.event_id === event_id);
    const isStored = (event_id: string, limit_ms = STORED_LIMIT_MS) =>
      eventually(() => storedAs(event_id)[0], limit_ms);
    const shown = async (partner: TestPartner, endpoint_id: string) =>
      (await partner.call('GET', `/webhook-endpoints/${endpoint_id}`)).body.endpoint;

    test('is created after a test event was stored, and shows its settings without the credential', async () => {
      const partner = await newPartner();
      const before = server.stored.length;
      const { status, body } = await create(partner);
      expect([status, body.error]).toEqual([201, undefined]);
      const { credential } = server;
      const settings = Object.fromEntries(
        Object.entries(server.settings).filter(([, value]) => value !== credential),
      );
      expect(body).toMatchObject({
        secret: null,
        endpoint: {
          endpoint_id: expect.stringMatching(/^whd_/),
          url: null,
          destination: { type: server.type, ...settings },
          header_names: [],
        },
      });
      await eventually(() =>
        server.stored.slice(before).some(({ raw }) => JSON.parse(raw).event === 'webhook.test'),
      );
      const { endpoint_id } = body.endpoint;
      const path = `/webhook-endpoints/${endpoint_id}`;
      const tested = await partner.call('POST', `${path}/test`);
      expect(tested.body).toMatchObject({ delivered: true, http_status: null, error: null });
      await isStored(tested.body.event_id);
      const rotated = await partner.call('POST', `${path}/rotate-secret`, {});
      expect(refusal(rotated)).toEqual([400, 'INVALID_FIELD', 'endpoint_id']);
      const answers = [body, await shown(partner, endpoint_id), tested.body, rotated.body];
      expect(JSON.stringify(answers)).not.toContain(credential);
    });

    test('a setting that its server refuses is named, and changes nothing', async () => {
      const partner = await newPartner();
      for (const [fault, change, setting] of server.faults) {
        const answer = await create(partner, change);
        expect([fault, ...refusal(answer)]).toEqual([
          fault,
          400,
          'INVALID_FIELD',
          `destination.${setting}`,
        ]);
        const text = JSON.stringify(answer.body);
        expect(text).not.toContain(server.credential);
        expect(text).not.toContain(WRONG);
      }
      const { endpoints } = (await partner.call('GET', '/webhook-endpoints')).body;
      expect(endpoints).toEqual([]);
      const endpoint_id = await addEndpoint(partner);
      const before = await shown(partner, endpoint_id);
      const [[fault, destination, setting]] = server.faults as [[string, object, string]];
      const changed = await partner.call('PATCH', `/webhook-endpoints/${endpoint_id}`, {
        destination,
      });
      expect([fault, ...refusal(changed)]).toEqual([
        fault,
        400,
        'INVALID_FIELD',
        `destination.${setting}`,
      ]);
      expect(await shown(partner, endpoint_id)).toMatchObject({
        destination: before.destination,
        updated_at: before.updated_at,
      });
    });

    test('stores each event as the webhook URL gets it, with its ID, in the order of its conversation', async () => {
      const partner = await newPartner();
      const endpoint_id = await addEndpoint(partner);
      const conversations = Array.from({ length: CONVERSATIONS }, () =>
        Array.from({ length: EVENTS_OF_CONVERSATION }, nextId),
      );
      for (let at = 0; at < EVENTS_OF_CONVERSATION; at += 1) {
        for (const [index, ids] of conversations.entries()) {
          await inbound(ids[at] as string, `1555010091${index}`);
        }
      }
      for (const ids of conversations) {
        const event_ids: string[] = [];
        for (const id of ids) event_ids.push(await eventOf(partner, id));
        for (const event_id of event_ids) {
          const stored = await isStored(event_id);
          const own = partner.receiver.arrivals.find(
            ({ headers }) => headers['webhook-id'] === event_id,
          );
          expect(stored.raw).toBe(own?.raw);
        }
        const order = [...new Set(server.stored.map(({ event_id }) => event_id))];
        expect(order.filter((id) => event_ids.includes(id))).toEqual(event_ids);
        const keys = new Set(event_ids.map((id) => storedAs(id)[0]?.key));
        expect(keys.size).toBe(1);
      }
      await eventually(async () => {
        const { attempts } = (
          await partner.call('GET', `/webhook-endpoints/${endpoint_id}/attempts`)
        ).body;
        return (
          attempts.length >= CONVERSATIONS * EVENTS_OF_CONVERSATION &&
          attempts.every((one: { delivered: boolean }) => one.delivered)
        );
      });
    });

    test('stores CloudEvents in the structured mode', async () => {
      const partner = await newPartner();
      const refused = await create(partner, {}, { format: 'cloudevents-binary' });
      expect(refusal(refused)).toEqual([400, 'INVALID_FIELD', 'format']);
      await addEndpoint(partner, { format: 'cloudevents-structured' });
      const id = nextId();
      await inbound(id);
      const event_id = await eventOf(partner, id);
      const { raw } = await isStored(event_id);
      expect(JSON.parse(raw)).toMatchObject({
        specversion: '1.0',
        id: event_id,
        type: 'message.received',
        data: { meta: { event_id } },
      });
    });

    test('events of a server that hangs are listed, retried, and disable the endpoint after days', async () => {
      const partner = await newPartner();
      const endpoint_id = await addEndpoint(partner);
      const path = `/webhook-endpoints/${endpoint_id}`;
      const [first, second, third] = [nextId(), nextId(), nextId()];
      await server.hang();
      let event_ids: string[];
      try {
        await inbound(first);
        await inbound(second, '15550100902');
        event_ids = [await eventOf(partner, first), await eventOf(partner, second)];
        const rows = await eventually(async () => {
          const { events } = (await partner.call('GET', '/webhooks/failed?limit=100')).body;
          const own = (events as Row[]).filter((one) => one.last_error !== null);
          return own.length >= 2 && own;
        });
        expect(rows[0]).toMatchObject({
          endpoint_id,
          last_error: 'timeout',
          last_http_status: null,
        });
        await eventually(async () => (await shown(partner, endpoint_id)).health.failing_since);
        // Five days pass.
        const since = new Date(Date.now() - 5 * DAY_MS - 60_000);
        await setIn(mesh, 'webhooks', 'endpoint_health', endpoint_id, { failing_since: since });
        await setIn(mesh, 'onboarding', 'webhook_endpoints', endpoint_id, {
          updated_at: new Date(since.getTime() - DAY_MS),
        });
        const disabled = await eventually(
          () => partner.receiver.of('webhook.endpoint_disabled')[0],
        );
        expect(disabled.body.data).toEqual({
          endpoint_id,
          url: null,
          destination: { type: server.type, address: expect.stringMatching(/^[a-z]+:\/\//) },
          reason: 'failing',
        });
        const refused = await partner.call('PATCH', path, { status: 'active' });
        expect([...refusal(refused).slice(0, 2), refused.body.error.message]).toEqual([
          400,
          'INVALID_FIELD',
          expect.stringMatching(/^destination\./),
        ]);
      } finally {
        await server.goOn();
      }
      const enabled = await eventually(async () => {
        const answer = await partner.call('PATCH', path, { status: 'active' });
        return answer.status === 200 && answer;
      });
      expect(enabled.body.endpoint.status).toBe('active');
      for (const event_id of event_ids) await isStored(event_id, RETRIED_LIMIT_MS);
      await eventually(
        async () => (await shown(partner, endpoint_id)).health.retrying === 0,
        RETRIED_LIMIT_MS,
      );
      await inbound(third);
      await isStored(await eventOf(partner, third));
    });

    test('a failed event is retried by hand, and a logged one replayed, with the same ID', async () => {
      const partner = await newPartner();
      const endpoint_id = await addEndpoint(partner);
      const path = `/webhook-endpoints/${endpoint_id}`;
      await partner.call('PATCH', path, { status: 'paused' });
      const id = nextId();
      await inbound(id);
      const event_id = await eventOf(partner, id);
      await eventually(async () => (await shown(partner, endpoint_id)).health.retrying === 1);
      const retry = `/webhooks/retry/${event_id}?endpoint_id=${endpoint_id}`;
      expect((await partner.call('POST', retry)).body.status).toBe('retrying');
      await partner.call('PATCH', path, { status: 'active' });
      await isStored(event_id);
      const before = storedAs(event_id).length;
      await eventually(
        async () => (await partner.call('GET', `/events/${event_id}`)).status === 200,
      );
      const replay = await partner.call('POST', '/events/replay', {
        event_ids: [event_id],
        endpoint_id,
      });
      expect([replay.status, replay.body.error]).toEqual([200, null]);
      await eventually(async () => {
        const { body } = await partner.call('GET', `/events/replays/${replay.body.replay_id}`);
        return body.status === 'completed' && body.delivered === 1;
      });
      if (server.keeps_repetitions) {
        await eventually(() => storedAs(event_id).length > before);
      }
      await eventually(async () => {
        const { attempts } = (await partner.call('GET', `/events/${event_id}`)).body;
        const own = (attempts as Array<{ endpoint_id: string | null; secret: string | null }>)
          .filter((one) => one.endpoint_id === endpoint_id)
          .map(({ secret }) => secret);
        return own.length >= 2 && own.every((secret) => secret === null);
      });
    });

    test('its credential is in no database, message or answer', async () => {
      const partner = await newPartner();
      await addEndpoint(partner);
      const texts = [
        ...(await storedTexts(mesh)),
        ...(await topicMessages(mesh.env)).map(
          (one) => `${String(one.key)} ${headerText(one)} ${one.value?.toString('latin1')}`,
        ),
        JSON.stringify((await partner.call('GET', '/webhook-endpoints')).body),
        JSON.stringify((await partner.call('GET', '/audit')).body),
      ];
      expect(texts.length).toBeGreaterThan(20);
      for (const text of texts) {
        expect(text.includes(server.credential)).toBe(false);
        expect(text.includes(WRONG)).toBe(false);
      }
    });
  });
}

interface Row {
  event_id: string;
  endpoint_id: string | null;
  last_error: string | null;
}

const refusal = ({ status, body }: Answer) => [
  status,
  body.error?.code,
  body.error?.details?.field ?? body.error?.details?.fields,
];
