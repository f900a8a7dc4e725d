import { fileURLToPath } from 'node:url';
import type { SessionHandle } from '../../../src/exports/client.ts';
import { createWebhookAdapter } from '../../../src/gateway/platform/adapters/webhook-adapter.ts';
import { runOutbound, type RunningOutbound } from '../../../src/gateway/platform/run-outbound.ts';
import { recordingNeeds } from '../../support/sample-hooks.ts';
import { startWebhookReceiver, type Received, type WebhookReceiver } from '../../support/webhook-receiver.ts';
import { spawnNode } from '../../support/process.ts';
import { LEASE_MS, stagePlane, type BackendName, type PlaneWorker, type StagedPlane } from './stage-plane.ts';

const CHAT_MODULES = fileURLToPath(new URL('../../fixtures/platform-plane', import.meta.url));
const GATEWAY_SCRIPT = fileURLToPath(new URL('gateway-process.mjs', import.meta.url));
export const WEBHOOK_SECRET = 'both-sides-know-this-4711';
const DAY_MS = 24 * 60 * 60 * 1000;

export interface PlatformPlane extends StagedPlane {
  readonly receiver: WebhookReceiver;
  openChat(channel?: string): Promise<SessionHandle>;
  startChatWorker(crash?: string, more?: object): Promise<PlaneWorker>;
  /** Starts the outbound part of a gateway in this process; it is stopped with the plane. */
  startGateway(options?: { attempts?: number; allow?: readonly string[] }): RunningOutbound;
  /** Starts another one in a separate process, and kills it when the receiver has got this many requests. */
  startGatewayAndKill(requests: number): Promise<void>;
  /** The first message for each key that arrived: what a receiver that drops known keys shows. */
  taken(): Map<string, Received>;
}

/** A plane with one platform, `chat`, whose messages go to a real HTTP server. */
export async function stagePlatformPlane(backend: BackendName): Promise<PlatformPlane> {
  const plane = await stagePlane(backend);
  const receiver = await startWebhookReceiver();
  const gateways: RunningOutbound[] = [];
  const taken = new Map<string, Received>();
  const lines = recordingNeeds();
  receiver.answer = (response) => {
    const received = receiver.received.at(-1)!;
    const key = String(received.message['key']);
    if (!taken.has(key)) taken.set(key, received);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ messageId: `m:${key}` }));
  };
  const { host } = new URL(receiver.url);
  return {
    ...plane,
    receiver,
    openChat: (channel = 'general') =>
      plane.client.openSession({ subject: 'alice', agent: 'main', platform: 'chat', channel }),
    startChatWorker: (crash, more = {}) =>
      plane.startWorker(
        {
          modules: CHAT_MODULES,
          outbound: { platforms: { chat: { channels: ['team-*'], deliverWithinMs: DAY_MS } }, effectsPerCall: 6 },
          ...more,
        },
        crash,
      ),
    startGateway({ attempts = 10, allow = [host] } = {}) {
      const adapter = createWebhookAdapter('chat', { url: receiver.url, secret: WEBHOOK_SECRET, allow });
      const platforms = { chat: { adapter, channels: ['team-*'], attempts } };
      const gateway = runOutbound(
        { platforms, retentionMs: DAY_MS, maxKeptBytes: 1024 * 1024 },
        { store: plane.store, log: lines.log },
      );
      gateways.push(gateway);
      return gateway;
    },
    async startGatewayAndKill(requests) {
      const options = { store: plane.storeOptions, url: receiver.url, secret: WEBHOOK_SECRET, allow: [host] };
      const gateway = await spawnNode(GATEWAY_SCRIPT, [], {
        env: { ...process.env, GATEWAY: JSON.stringify({ ...options, leaseMs: LEASE_MS }) },
      });
      try {
        await receiver.until(requests);
      } finally {
        gateway.kill('SIGKILL');
        await gateway.exited;
      }
    },
    taken: () => taken,
    async stop() {
      await Promise.all(gateways.map((gateway) => gateway.stop(0)));
      await receiver.stop();
      await plane.stop();
      if (/4711|of-the-path/.test(JSON.stringify(lines.lines))) throw new Error('a secret is in the log');
    },
  };
}
