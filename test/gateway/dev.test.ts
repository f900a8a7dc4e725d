import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planeFolder, type PlaneFolder } from '../cli/plane-folder.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';

let plane: PlaneFolder;
let dev: WatchedProcess;
beforeAll(async () => {
  plane = planeFolder();
  dev = await plane.start('dev', ['--http-port', '0']);
});
afterAll(async () => {
  await dev.stop();
  plane.remove();
  failOnLeaks();
});

const logIn = (link: string): Promise<Response> => {
  const { origin, hash } = new URL(link);
  const headers = { 'content-type': 'application/json', 'sallyport-console': '1', origin };
  return fetch(`${origin}/v1/login`, { method: 'POST', headers, body: JSON.stringify({ code: hash.slice(1) }) });
};

describe('sallyport dev', () => {
  it('prints where MCP clients go, and a link that opens the console once', async () => {
    const [link = ''] = /http:\/\/127\.0\.0\.1:\d+\/login#spl_\S+/.exec(dev.stdout) ?? [];
    expect(dev.stdout).toContain(`${new URL(link).origin}/mcp`);
    expect((await logIn(link)).status).toBe(204);
    expect((await logIn(link)).status).toBe(401);
  });

  it('is found by login-link, on any port', async () => {
    const { link } = (await plane.json('gateway', 'login-link')) as { link: string };
    expect((await logIn(link)).status).toBe(204);
    const elsewhere = await plane.cli('gateway', 'login-link', '--url', 'https://console.example.com/');
    expect(elsewhere.stdout).toMatch(/^https:\/\/console\.example\.com\/login#spl_/);
    expect((await plane.cli('gateway', 'login-link', '--url', 'javascript:alert(1)')).code).toBe(2);
  });

  it('takes its address back when it ends, and says when a port is taken', async () => {
    expect(existsSync(plane.file('.sallyport/gateway.json'))).toBe(true);
    expect((await dev.stop()).code).toBe(0);
    expect(existsSync(plane.file('.sallyport/gateway.json'))).toBe(false);
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    for (const command of ['dev', 'gateway']) {
      const refused = await plane.cli(command, '--http-port', String(port));
      expect([refused.code, refused.stderr]).toEqual([69, expect.stringContaining('--http-port')]);
    }
    taken.close();
  });
});
