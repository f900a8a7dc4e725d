import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createMCPClient } from '@ai-sdk/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { runCli } from '../cli/run-cli.ts';
import { spawnNode } from '../support/process.ts';
import { startProgram } from '../support/watched-process.ts';
import { MAIN, startDevPlane, type DevPlane } from './dev-plane.ts';

const TOP = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

let plane: DevPlane;
beforeAll(async () => {
  plane = await startDevPlane();
});
afterAll(() => plane.stop());

const NAMES = ['desk__echo', 'desk__everything', 'desk__fails', 'desk__send', 'desk__steps', 'desk__wait'];
const headers = async (): Promise<Record<string, string>> => ({
  authorization: `Bearer ${(await plane.token()).text}`,
});

describe.each([
  ['2026-07-28', { mode: { pin: '2026-07-28' } }],
  ['2025-11-25', undefined],
] as const)('the official client, %s', (_, versionNegotiation) => {
  it('lists the toolkit of its bearer and calls a tool', async () => {
    const client = new Client(
      { name: 'peer', version: '1' },
      versionNegotiation === undefined ? {} : { versionNegotiation },
    );
    await client.connect(
      new StreamableHTTPClientTransport(new URL(plane.url), { requestInit: { headers: await headers() } }),
    );
    try {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(NAMES);
      const result = await client.callTool({ name: 'desk__echo', arguments: { text: 'hello' } });
      expect(result.structuredContent).toEqual({ text: 'hello' });
    } finally {
      await client.close();
    }
  });
});

it('the first official client lists the toolkit of its bearer and calls a tool', async () => {
  const client = new OldClient({ name: 'peer', version: '1' });
  const transport = new OldTransport(new URL(plane.url), { requestInit: { headers: await headers() } });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(NAMES);
    const result = await client.callTool({ name: 'desk__echo', arguments: { text: 'hello' } });
    expect(result.structuredContent).toEqual({ text: 'hello' });
  } finally {
    await client.close();
  }
});

it('the client of the AI SDK lists the toolkit of its bearer and calls a tool', async () => {
  const client = await createMCPClient({ transport: { type: 'http', url: plane.url, headers: await headers() } });
  try {
    const tools = await client.tools();
    expect(Object.keys(tools).sort()).toEqual(NAMES);
    const options = { messages: [], toolCallId: 'one', context: {} };
    const result = await tools['desk__echo']!.execute!({ text: 'hello' }, options);
    expect(result).toMatchObject({ structuredContent: { text: 'hello' } });
  } finally {
    await client.close();
  }
});

it('the inspector lists the toolkit of its bearer and calls a tool', async () => {
  const setup = await spawnNode(fileURLToPath(new URL('../../scripts/setup.mjs', import.meta.url)), ['--node24']);
  expect((await setup.exited).code).toBe(0);
  const { node, inspector } = JSON.parse(setup.stdout.trim().split('\n').at(-1)!) as Record<string, string>;
  const { authorization } = await headers();
  const inspect = async (...args: string[]): Promise<unknown> => {
    const all = [inspector!, '--cli', plane.url, '--transport', 'http', '--header', `Authorization: ${authorization}`];
    const child = await startProgram(node!, [...all, ...args]);
    const { code } = await child.exited;
    expect({ code, stderr: code === 0 ? '' : child.stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(child.stdout);
  };
  const { tools } = (await inspect('--method', 'tools/list')) as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toEqual(NAMES);
  const call = ['--method', 'tools/call', '--tool-name', 'desk__echo', '--tool-arg', 'text=hello'];
  expect(await inspect(...call)).toMatchObject({ structuredContent: { text: 'hello' } });
});

describe.each(['2026-07-28', '2025-11-25'] as const)('sallyport mcp, %s', (era) => {
  it('serves the toolkit of an agent on standard input and output, and ends with its client', async () => {
    const pin = era === '2026-07-28' ? { versionNegotiation: { mode: { pin: era } } } : {};
    const client = new Client({ name: 'peer', version: '1' }, pin);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, 'mcp', '--agent', 'desktop'],
      cwd: plane.folder,
      stderr: 'pipe',
    });
    await client.connect(transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(NAMES);
    const result = await client.callTool({ name: 'desk__echo', arguments: { text: 'hello' } });
    expect(result.structuredContent).toEqual({ text: 'hello' });
    const { pid } = transport;
    await client.close();
    expect(() => process.kill(pid!, 0)).toThrow('ESRCH');
  });
});

interface DesktopServer {
  readonly command: string;
  readonly args: readonly string[];
}

/** The configurations on docs/mcp.md of servers that a client starts itself: first with a clone, then with an installed package. */
function desktopServers(): DesktopServer[] {
  const page = readFileSync(join(TOP, 'docs', 'mcp.md'), 'utf8');
  const blocks = [...page.matchAll(/```json\n([^]*?)```/g)].map(
    ([, text]) => JSON.parse(text!) as { mcpServers?: { sallyport: Partial<DesktopServer> } },
  );
  return blocks.flatMap(({ mcpServers }) =>
    mcpServers?.sallyport.command === undefined ? [] : [mcpServers.sallyport as DesktopServer],
  );
}

it.each([0, 1])(
  'the configuration %i of docs/mcp.md works as written, from another folder and without environment',
  async (index) => {
    const servers = desktopServers();
    expect(servers).toHaveLength(2);
    const here = (text: string): string =>
      text
        .replace('/home/ann/plane/node_modules/sallyport', TOP)
        .replace(/\/home\/ann\/(?:plane|sallyport)\/\.sallyport/, join(plane.folder, '.sallyport'))
        .replace('/home/ann/sallyport', TOP)
        .replace('/usr/bin/node', process.execPath);
    const { command, args } = servers[index]!;
    const client = new Client({ name: 'desktop', version: '1' }, {});
    const transport = new StdioClientTransport({
      command: here(command),
      args: args.map(here),
      cwd: '/',
      env: { HOME: plane.folder, PATH: '/usr/bin:/bin' },
      stderr: 'pipe',
    });
    await client.connect(transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(NAMES);
    const result = await client.callTool({ name: 'desk__echo', arguments: { text: 'hello' } });
    expect(result.structuredContent).toEqual({ text: 'hello' });
    await client.close();
  },
);

it('sallyport mcp without an agent says what is missing, and nothing on standard output', async () => {
  const { code, stdout, stderr } = await runCli(['mcp'], { cwd: plane.folder });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('--agent');
});

it.each([
  [['--agent', ''], 'The name of the agent cannot be used'],
  [['--agent', 'desktop', '--subject', ''], '--subject: '],
  [['--agent', 'desktop', '--tenant', 'a/b'], '--tenant: '],
])('sallyport mcp %j is refused at once', async (flags, problem) => {
  const { code, stdout, stderr } = await runCli(['mcp', ...flags], { cwd: plane.folder });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(problem);
});
