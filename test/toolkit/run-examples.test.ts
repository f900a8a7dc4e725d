import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { fakeModel } from '@langchain/core/testing';
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import * as ai from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as examples from '../../examples/docs/toolkits.ts';
import { connect, type Client, type SessionHandle } from '../../src/exports/client.ts';
import { makeAiSdkTools, type PublishedTool } from '../../src/exports/toolkit.ts';
import { TOP } from '../docs/pages.ts';
import { spawnNode, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { answeringFetch } from './model-call.ts';

const built = (path: string): string => join(TOP, 'dist', path);
/** Unsets the settings of this machine, so that they cannot change the results of the tests. */
const env = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => name.startsWith('SALLYPORT_') || name.startsWith('npm_'))
    .map((name) => [name, undefined]),
);
const ZONE = { timeZone: 'Asia/Tokyo' };
/** No time zone has this name, so the call fails. Ten such calls are a loop. */
const NO_ZONE = { timeZone: 'Mars' };
const QUESTION = 'What time is it?';
const TOKYO = /"timeZone":"Asia\/Tokyo"/;

describe('the examples of docs/toolkits.md, on a plane that runs', () => {
  let folder: TemporaryFolder;
  let dev: WatchedProcess;
  let client: Client;
  let session: SessionHandle;
  let tools: readonly PublishedTool[];
  let run: examples.Run;

  beforeAll(async () => {
    folder = temporaryFolder('sallyport-toolkits');
    const modules = [{ file: built('examples/modules/clock/index.js') }];
    writeFileSync(join(folder.path, 'modules.json'), JSON.stringify({ modules }));
    dev = await spawnNode(built('cli/main.js'), ['dev', '--modules', 'modules.json'], { cwd: folder.path, env });
    await dev.waitForLine(/Try in a second terminal/);
    client = await connect({ store: 'embedded', folder: join(folder.path, '.sallyport'), mode: 'connect' });
    session = await client.openSession({ subject: 'ada', agent: 'assistant' });
    tools = await examples.readTools(client, session);
    run = examples.makeRun(client, session);
  });
  afterAll(async () => {
    await client.close();
    await dev.stop();
    folder.remove();
  });

  const openAi = (fetch: typeof globalThis.fetch): OpenAI =>
    new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1', fetch, maxRetries: 0 });

  it('answer the calls of a chat completion', async () => {
    const calls = ['clock__now', 'clock__invented'].map((name) => ({
      id: `chat-${name}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(ZONE) },
    }));
    const { fetch } = answeringFetch(() => ({
      choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: calls } }],
    }));
    const messages = await examples.chat(openAi(fetch), tools, run);
    expect(messages.slice(2)).toStrictEqual([
      { role: 'tool', tool_call_id: 'chat-clock__now', content: expect.stringMatching(TOKYO) as unknown },
      { role: 'tool', tool_call_id: 'chat-clock__invented', content: 'There is no such tool.' },
    ]);
  });

  it('answer the calls of a response, in the next one', async () => {
    const call = { type: 'function_call', name: 'clock__now', arguments: JSON.stringify(ZONE), call_id: 'response-1' };
    const { fetch, bodies } = answeringFetch(({ input }) => ({
      id: 'first',
      object: 'response',
      output: typeof input === 'string' ? [call] : [],
    }));
    await examples.respond(openAi(fetch), tools, run);
    expect(JSON.parse(bodies[1]!)).toMatchObject({
      previous_response_id: 'first',
      input: [{ type: 'function_call_output', call_id: 'response-1', output: expect.stringMatching(TOKYO) as unknown }],
    });
  });

  it('answer the calls of a message', async () => {
    const { fetch } = answeringFetch(() => ({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'message-1', name: 'clock__now', input: { timeZone: 'Mars' } }],
    }));
    const anthropic = new Anthropic({ apiKey: 'none', baseURL: 'http://127.0.0.1:9', fetch, maxRetries: 0 });
    const messages = await examples.ask(anthropic, tools, run);
    expect(messages.at(-1)!.content).toMatchObject([
      { tool_use_id: 'message-1', content: expect.stringMatching(/^failed: "Mars" is not a time zone/) as unknown },
    ]);
  });

  it('run in generateText', async () => {
    const model = new MockLanguageModelV3({
      doGenerate: ({ prompt }) => {
        const isFirst = prompt.length === 1;
        const call = { type: 'tool-call' as const, toolCallId: 'generate-1', toolName: 'clock__now' };
        return Promise.resolve({
          content: isFirst
            ? [{ ...call, input: JSON.stringify(ZONE) }]
            : [{ type: 'text', text: JSON.stringify(prompt.at(-1)) }],
          finishReason: { unified: isFirst ? 'tool-calls' : 'stop', raw: undefined },
          usage: {
            inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
            outputTokens: { total: 1, text: 1, reasoning: 0 },
          },
          warnings: [],
        });
      },
    });
    const { text } = await examples.generate(model, tools, run);
    expect(text).toContain('Asia/Tokyo');
  });

  it('run as tools of LangChain', async () => {
    const made = examples.makeLangChainTools(tools, run);
    const model = fakeModel().respondWithTools([{ name: 'clock__now', args: ZONE, id: 'chain-1' }]);
    const message = await model.bindTools(made).invoke('Go.');
    const now = made.find(({ name }) => name === 'clock__now')!;
    const result = (await now.invoke({ ...message.tool_calls![0]!, type: 'tool_call' })) as { content: string };
    expect(result.content).toMatch(TOKYO);
  });

  it('serve an MCP client, which checks what it gets', async () => {
    const server = examples.makeMcpServer(client, session, tools);
    const peer = new McpClient({ name: 'agent', version: '1.0.0' });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    await peer.connect(near);
    await peer.listTools();
    const told = await peer.callTool({ name: 'clock__now', arguments: ZONE });
    expect(told).toMatchObject({ isError: false, structuredContent: { timeZone: 'Asia/Tokyo' } });
    const failed = await peer.callTool({ name: 'clock__now', arguments: { timeZone: 'Mars' } });
    expect(failed).toMatchObject({ isError: true });
    await expect(peer.callTool({ name: 'clock__invented' })).rejects.toThrow('There is no tool "clock__invented".');
    await peer.close();
  });

  /** The last text that the model is given in each format for one call of `clock__now`. */
  const formats: Record<string, (known: SessionHandle) => Promise<string>> = {
    'OpenAI chat': async (known) => {
      const named = { name: 'clock__now', arguments: JSON.stringify(NO_ZONE) };
      const message = { role: 'assistant', tool_calls: [{ id: 'advised', type: 'function', function: named }] };
      const { fetch } = answeringFetch(() => ({ choices: [{ index: 0, message }] }));
      const messages = await examples.chat(openAi(fetch), tools, examples.makeRun(client, known));
      return messages.at(-1)!.content as string;
    },
    'OpenAI responses': async (known) => {
      const call = {
        type: 'function_call',
        name: 'clock__now',
        arguments: JSON.stringify(NO_ZONE),
        call_id: 'advised',
      };
      const { fetch, bodies } = answeringFetch(({ input }) => ({
        id: 'first',
        output: input === QUESTION ? [call] : [],
      }));
      await examples.respond(openAi(fetch), tools, examples.makeRun(client, known));
      return (JSON.parse(bodies[1]!) as { input: { output: string }[] }).input[0]!.output;
    },
    Anthropic: async (known) => {
      const block = { type: 'tool_use', id: 'advised', name: 'clock__now', input: NO_ZONE };
      const { fetch } = answeringFetch(() => ({ type: 'message', role: 'assistant', content: [block] }));
      const anthropic = new Anthropic({ apiKey: 'none', baseURL: 'http://127.0.0.1:9', fetch, maxRetries: 0 });
      const messages = await examples.ask(anthropic, tools, examples.makeRun(client, known));
      return (messages.at(-1)!.content as Anthropic.ToolResultBlockParam[])[0]!.content as string;
    },
    'AI SDK': async (known) => {
      const now = makeAiSdkTools(ai, tools, (id, args, { toolCallId }) =>
        examples.makeRun(client, known)(id, args, toolCallId),
      )['clock__now']!;
      return (await now.execute!(NO_ZONE, { toolCallId: 'advised', messages: [], context: {} })) as string;
    },
    LangChain: async (known) => {
      const made = examples.makeLangChainTools(tools, examples.makeRun(client, known));
      const now = made.find(({ name }) => name === 'clock__now')!;
      const call = { name: 'clock__now', args: NO_ZONE, id: 'advised', type: 'tool_call' as const };
      return ((await now.invoke(call)) as { content: string }).content;
    },
    MCP: async (known) => {
      const server = examples.makeMcpServer(client, known, tools);
      const peer = new McpClient({ name: 'agent', version: '1.0.0' });
      const [near, far] = InMemoryTransport.createLinkedPair();
      await server.connect(far);
      await peer.connect(near);
      const { content, _meta } = await peer.callTool({ name: 'clock__now', arguments: NO_ZONE });
      await peer.close();
      expect(_meta).toStrictEqual({ advice: expect.stringMatching(/^You have called clock\.now 10 times/) as string });
      return (content as { text: string }[])[0]!.text;
    },
  };

  it.each(Object.keys(formats))('give the model the advice of loop detection in the format of %s', async (format) => {
    // Each format has its own subject, because a key belongs to one agent of one subject.
    const known = await client.openSession({ subject: format.replaceAll(' ', '-'), agent: 'assistant' });
    for (let count = 0; count < 10; count += 1) await client.call(known, 'clock.now', NO_ZONE);
    const text = await formats[format]!(known);
    expect(text).toMatch(
      /^failed: "Mars" is not a time zone[^]*\nYou have called clock\.now 10 times with the same arguments/,
    );
    expect(text.match(/clock\.now 10 times/g)).toHaveLength(1);
  });

  it('leave out nothing that is accepted', () => {
    expect(examples.leaveOutRefused(tools, 'openai')).toStrictEqual(tools);
    expect(examples.leaveOutRefused(tools, 'anthropic')).toStrictEqual(tools);
  });
});
