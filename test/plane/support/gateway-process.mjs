// The outbound part of a gateway, in a separate process. GATEWAY holds its options as JSON.
import { createWebhookAdapter } from '../../../dist/gateway/platform/adapters/webhook-adapter.js';
import { openStore, runOutbound } from '../../../dist/exports/testing.js';

const { store: storeOptions, url, secret, allow, leaseMs } = JSON.parse(process.env.GATEWAY);
const log = { debug() {}, info() {}, warn() {}, error() {} };
const adapter = createWebhookAdapter('chat', { url, secret, allow });
const platforms = { chat: { adapter, channels: ['team-*'], attempts: 10 } };
// An attempt may take half of the lease: longer than the test needs to kill this process.
runOutbound(
  { platforms, retentionMs: 86_400_000, maxKeptBytes: 1024 * 1024, leaseMs },
  { store: await openStore(storeOptions), log },
);
console.log('ready');
