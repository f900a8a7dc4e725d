import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';

const CHAT = fileURLToPath(new URL('../fixtures/platform-plane/chat.mjs', import.meta.url));
const SECRET = 'a-secret-of-both-sides-4711';

let plane: PlaneFolder;
let dev: WatchedProcess | undefined;
beforeEach(() => {
  plane = planeFolder();
  writeFileSync(plane.modules, JSON.stringify({ modules: [{ file: CHAT }] }));
});
afterEach(async () => {
  await dev?.stop();
  plane.remove();
});
afterAll(() => failOnLeaks());

const list = async (...flags: string[]) =>
  (await plane.json('messages', 'list', ...flags)) as unknown as Record<string, unknown>[];

describe('sallyport messages', () => {
  it('shows what a tool sent in dev, without any configuration', async () => {
    dev = await plane.start('dev');
    expect((await plane.cli('messages', 'list')).stderr).toContain('Nothing was sent.');
    const at = ['--platform', 'console', '--channel', 'kitchen'];
    expect(await plane.call('chat.say', { text: 'hello\u202e' }, ...at)).toMatchObject({ code: 0 });
    const [message] = await list();
    expect(message).toMatchObject({
      platform: 'console',
      channel: 'kitchen',
      kind: 'send',
      state: 'delivered',
      body: { message: { text: 'hello\u202e' } },
    });
    const key = String(message!['key']);
    // Nothing hidden reaches the terminal.
    const shown = await plane.cli('messages');
    expect(shown.stdout).toContain(key);
    expect(shown.stdout).not.toContain('\u202e');
    expect((await plane.cli('messages', 'show', key)).stdout).toContain('"kitchen"');
    expect(await list('--channel', 'elsewhere')).toEqual([]);
    expect(await plane.cli('messages', 'retry', key)).toMatchObject({ code: 1 });
    for (const verb of ['show', 'retry'])
      expect(await plane.cli('messages', verb, 'nothing/1')).toMatchObject({ code: 1 });
    expect(await plane.cli('messages', 'list', '--state', 'lost')).toMatchObject({ code: 2 });
  });

  it('shows what could not be sent, and sends it again', async () => {
    const receiver = await startWebhookReceiver();
    try {
      receiver.answer = (response) => void response.writeHead(403).end();
      const { host } = new URL(receiver.url);
      writeFileSync(plane.file('secret'), SECRET, { mode: 0o600 });
      const chat = `adapter: webhook, url: "${receiver.url}", secretFile: secret, allow: ["${host}"]`;
      writeFileSync(plane.file('sallyport.yaml'), `platforms:\n  chat: { ${chat} }\n`, { mode: 0o600 });
      dev = await plane.start('dev');
      const sent = await plane.call('chat.say', { text: 'hello' }, '--platform', 'chat', '--channel', 'general');
      expect(sent.stderr).toContain('HTTP 403');
      const [failed] = await list('--state', 'failed');
      expect(failed).toMatchObject({ problem: 'HTTP 403', attempts: 1 });
      receiver.answer = (response) => void response.writeHead(204).end();
      expect(await plane.cli('messages', 'retry', String(failed!['key']))).toMatchObject({ code: 0 });
      await receiver.until(2);
      expect(await list('--state', 'failed')).toEqual([]);
      expect(dev.stdout + dev.stderr).toContain('an effect has failed');
      expect(dev.stdout + dev.stderr).not.toMatch(/4711|of-the-path/);
    } finally {
      await receiver.stop();
    }
  });

  it('dev does not start without the secret of a platform', async () => {
    const chat = 'adapter: webhook, url: "https://bridge.example.com/", secretEnv: CHAT_SECRET';
    writeFileSync(plane.file('sallyport.yaml'), `platforms:\n  chat: { ${chat} }\n`, { mode: 0o600 });
    const refused = await plane.cli('dev', '--modules', plane.modules);
    expect(refused).toMatchObject({ code: 78 });
    expect(refused.stderr).toContain('CHAT_SECRET is not set');
  });
});
