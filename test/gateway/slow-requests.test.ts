import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';
import { openSocket, parseAnswer, type RawAnswer } from './raw-http.ts';

let gateway: GatewayFixture;
beforeAll(async () => {
  gateway = await startGatewayFixture({ logLevel: 'warn' });
});
afterAll(async () => {
  await gateway.stop();
  failOnLeaks();
});

/** Sends the beginning of a request and nothing more. Returns what the server has answered when it closes the socket. */
async function begin(text: string): Promise<RawAnswer | undefined> {
  const socket = await openSocket(gateway.port);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  return parseAnswer(Buffer.concat(chunks).toString('latin1'));
}

const residentKiB = async (): Promise<number> => {
  const { stdout } = await gateway.folder.shell(`grep VmRSS /proc/${gateway.gateway.pid}/status`);
  return Number(/(\d+) kB/.exec(stdout)?.[1]);
};

describe('a gateway', () => {
  it('answers 408 to headers and to bodies that do not come, and closes the socket', async () => {
    const host = `Host: 127.0.0.1:${gateway.port}\r\n`;
    const [headers, body] = await Promise.all([
      begin(`GET /healthz HTTP/1.1\r\n${host}`),
      begin(`POST /v1/login HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{`),
    ]);
    expect([headers?.status, body?.status]).toEqual([408, 408]);
  });

  it('answers health checks beside 1,000 dripping sockets', async () => {
    const dripping: Socket[] = [];
    const drip = setInterval(() => {
      for (const socket of dripping) if (socket.writable) socket.write('X');
    }, 100);
    try {
      for (let batch = 0; batch < 20; batch += 1) {
        const opened = await Promise.all(Array.from({ length: 50 }, () => openSocket(gateway.port)));
        for (const socket of opened) {
          socket.on('error', () => undefined);
          socket.write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\nX-Slow: `);
        }
        dripping.push(...opened);
        // Health checks are answered while the sockets are being opened, and also afterwards, below.
        expect((await gateway.request('/healthz')).status).toBe(200);
      }
      const open = (): number => dripping.filter((socket) => !socket.destroyed && !socket.closed).length;
      await eventually(() => open() <= 256, { what: 'the oldest sockets to be closed' });
      for (let asked = 0; asked < 20; asked += 1) expect((await gateway.request('/healthz')).status).toBe(200);
    } finally {
      clearInterval(drip);
      for (const socket of dripping) socket.destroy();
    }
  });

  it('stops reading a body without a length at the limit, and its memory stays flat', async () => {
    const before = await residentKiB();
    const socket = await openSocket(gateway.port);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(
      `POST /v1/login HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const piece = Buffer.alloc(64 * 1024, 0x20);
    const chunk = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
    let sent = 0;
    while (sent < 100 * 1024 * 1024 && !socket.destroyed && chunks.length === 0) {
      sent += piece.length;
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
    }
    await closed;
    expect(parseAnswer(Buffer.concat(chunks).toString('latin1'))?.status).toBe(413);
    expect(sent).toBeLessThan(100 * 1024 * 1024);
    expect((await residentKiB()) - before).toBeLessThan(50 * 1024);
    expect((await gateway.request('/healthz')).status).toBe(200);
  });
});
