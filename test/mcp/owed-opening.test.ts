import { request } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { stageMcp, type StagedMcp } from './stage-mcp.ts';

const MODULES = fileURLToPath(new URL('../fixtures/owed', import.meta.url));

/** The gateway waits here before it gives a request its session. */
const door = createDoor();
let connectionLost: () => void;
const firstIsLost = new Promise<void>((resolve) => (connectionLost = resolve));

let stage: StagedMcp;
beforeAll(async () => {
  stage = await stageMcp({}, MODULES, {
    beforeSession: door.pass,
    onSent: (how) => {
      if (how === 'closed') connectionLost();
    },
  });
});
afterAll(() => stage.stop());

function createDoor() {
  let [came, open] = [0, (): void => undefined];
  const opened = new Promise<void>((resolve) => (open = resolve));
  const waiting: { readonly count: number; readonly tell: () => void }[] = [];
  return {
    open: () => open(),
    pass: (): Promise<void> => {
      came += 1;
      for (const { count, tell } of waiting) if (came >= count) tell();
      return opened;
    },
    untilCame: (count: number): Promise<void> =>
      new Promise((tell) => {
        if (came >= count) tell();
        else waiting.push({ count, tell });
      }),
  };
}

/** One message of 2025-11-25 on a connection of its own, which `cut` ends. */
function post(token: string, session: string | undefined, message: object) {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session === undefined ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
  };
  const outgoing = request(stage.url, { method: 'POST', headers, agent: false });
  const answer = new Promise<{ readonly session: string; readonly text: string }>((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('response', (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (part: string) => (text += part));
      incoming.once('error', reject);
      incoming.once('end', () => resolve({ session: String(incoming.headers['mcp-session-id']), text }));
    });
  });
  answer.catch(() => undefined);
  outgoing.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
  return { answer, cut: () => void outgoing.destroy() };
}

it('a request that is cut while its session is opened, and its repeat, are one call', async () => {
  const token = stage.bearer();
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'cut', version: '1' } };
  const { session } = await post(token, undefined, { id: 1, method: 'initialize', params: hello }).answer;
  const file = join(stage.plane.folder, 'letters.txt');
  const call = { method: 'tools/call', params: { name: 'post__send', arguments: { file, text: 'cut' } } };
  const holds = vi.spyOn(stage.plane.store, 'holdOwed');

  const first = post(token, session, { id: 2, ...call });
  await door.untilCame(1);
  first.cut();
  await firstIsLost;
  const repeat = post(token, session, { id: 3, ...call });
  await door.untilCame(2);
  door.open();

  expect((await repeat.answer).text).toContain('"sent":"cut"');
  expect(holds).toHaveBeenCalledTimes(1);
  expect(existsSync(file) && readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(1);
});
