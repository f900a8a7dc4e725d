import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';
import { openSocket } from './raw-http.ts';

/** One address may use a quarter of these connections for pages and logins: ten at the same time. */
const CONNECTIONS = 40;
const REFUSED = 300;
/** The limit in `docs/gateway.md`: this many log lines at once, then one per second. */
const LINES_AT_ONCE = 100;

let gateway: GatewayFixture;
beforeAll(async () => {
  gateway = await startGatewayFixture({ config: { gateway: { http: { connections: CONNECTIONS } } } });
});
afterAll(async () => {
  await gateway.stop();
  failOnLeaks();
});

/** Opens logins whose body never arrives, until this address has all the connections that it may have. */
async function takeAllPlaces(): Promise<Socket[]> {
  const headers = `Host: 127.0.0.1:${gateway.port}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n`;
  const opened: Socket[] = [];
  for (let at = 0; at < CONNECTIONS / 4; at += 1) {
    const socket = await openSocket(gateway.port);
    socket.on('error', () => undefined);
    socket.write(`POST /v1/login HTTP/1.1\r\n${headers}\r\n`);
    opened.push(socket);
  }
  return opened;
}

it('a gateway that refuses requests without a token writes a bounded number of lines about them', async () => {
  const opened = await takeAllPlaces();
  try {
    const status = async (): Promise<number> => (await gateway.request('/console/')).status;
    await eventually(async () => ((await status()) === 503 ? true : undefined), { what: 'a refusal' });
    const startedAt = performance.now();
    const statuses: number[] = [];
    for (let at = 0; at < REFUSED; at += 1) statuses.push(await status());
    expect(new Set(statuses)).toEqual(new Set([503]));
    for (const socket of opened) socket.destroy();
    // A gateway that has stopped has written all its log lines.
    await gateway.gateway.stop();
    const elapsedSeconds = Math.ceil((performance.now() - startedAt) / 1000);
    const { stdout, stderr } = gateway.gateway;
    const lines = `${stdout}\n${stderr}`.split('\n');
    expect(lines.filter((line) => line.includes('a request failed'))).toEqual([]);
    const requests = lines.filter((line) => line.includes('"path"') || line.includes('request failed'));
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.length).toBeLessThanOrEqual(LINES_AT_ONCE + elapsedSeconds);
  } finally {
    for (const socket of opened) socket.destroy();
  }
});
