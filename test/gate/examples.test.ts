import { join } from 'node:path';
import * as agents from '@openai/agents-core';
import type * as ai from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import * as wrapping from '../../examples/docs/wrap-tools.ts';
import { loadModules } from '../../src/modules/catalog/load-modules.ts';
import { loadWorkerHooks } from '../../src/compose/worker-hooks.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { defineHooks, type ApprovalDecision, type GateQuestion } from '../../src/exports/gate.ts';
import { TOP } from '../docs/pages.ts';
import { answeringFetch } from '../toolkit/model-call.ts';
import { hookedCall, recordingNeeds } from '../support/sample-hooks.ts';
import OpenAI from 'openai';
import { z } from 'zod';

const built = (path: string): string => join(TOP, 'dist/examples', path);

describe('the example hooks', () => {
  /** Loads the example hooks as a worker does, with the example modules. */
  async function load() {
    const found = await loadModules(built('modules'), { pool: 'default', known: new Map() });
    expect(found.broken).toStrictEqual([]);
    const small = join(TOP, 'examples/hooks/small-files.mjs');
    const sources = [
      { file: built('hooks/guard.js') },
      { command: [process.execPath, small], on: 'before_tool_call' as const, tools: ['notes.add'] },
    ];
    const hooks = await loadWorkerHooks(sources, found, recordingNeeds());
    return (id: string, given: JsonObject) => {
      const declared = found.modules.flatMap(({ declaration }) => declaration.tools).find((tool) => tool.id === id)!;
      return hooks.before(hookedCall({ tool: declared, arguments: given }), (value, canonical) => ({
        kind: 'judged',
        arguments: value,
        canonical,
      }));
    };
  }

  it('block, change and ask as they say', async () => {
    const ask = await load();
    expect(ask('files.write', { path: 'a/.git/config', text: '' })).toMatchObject({
      kind: 'blocked',
      hook: 'guard.closed-folders',
      reason: 'Nothing is written into .git.',
    });
    expect(ask('files.write', { path: 'a/b.md', text: '' })).toMatchObject({ kind: 'passed', changedBy: [] });
    expect(ask('web.fetch', { url: 'https://bot:secret@example.com/a' })).toMatchObject({
      arguments: { url: 'https://example.com/a' },
    });
    expect(ask('shell.run', { command: ['rm', '-rf', 'x'] })).toMatchObject({ asks: [{ severity: 'critical' }] });
    expect(ask('shell.run', { command: ['ls'] })).toMatchObject({ asks: [] });
  });

  it('that are a command decide by its exit code and its output', async () => {
    const ask = await load();
    expect(await ask('notes.add', { text: 'short' })).toMatchObject({ kind: 'passed', asks: [] });
    expect(await ask('notes.add', { text: 'x'.repeat(20_000) })).toMatchObject({
      asks: [{ reason: expect.stringMatching(/^\d+ characters are a lot for notes\.add\.$/) as string }],
    });
    expect(await ask('notes.add', { text: 'x'.repeat(200_000) })).toMatchObject({
      kind: 'blocked',
      hook: 'small-files',
      reason: expect.stringContaining('at most 100,000 characters') as string,
    });
  });
});

describe('the examples of docs/gate-library.md', () => {
  const found: string[] = [];
  const find = (query: string): Promise<string[]> => (found.push(query), Promise.resolve([`about ${query}`]));

  it('check the tools of the AI SDK', async () => {
    const modelFor = (query: string) =>
      new MockLanguageModelV3({
        doGenerate: () =>
          Promise.resolve({
            content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'search', input: JSON.stringify({ query }) }],
            finishReason: { unified: 'tool-calls', raw: undefined },
            usage: {
              inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
              outputTokens: { total: 1, text: 1, reasoning: 0 },
            },
            warnings: [],
          }),
      }) as ai.LanguageModel;
    const searched = await wrapping.generate(modelFor('weather'), find);
    expect(searched.toolResults).toMatchObject([{ output: ['about weather'] }]);
    const { content } = await wrapping.generate(modelFor('localhost:8080'), find);
    expect(content.at(-1)).toMatchObject({ type: 'tool-error', error: { message: 'Only public pages.' } });
    expect(found).toStrictEqual(['weather']);
    // Many users make the same call. In one run for all of them, the twenty-first call would count as a loop and the thirtieth end the run.
    for (let user = 1; user <= 31; user += 1) {
      const conversation = wrapping.openConversation(`c-${user}`, `user-${user}`);
      const { toolResults } = await wrapping.generate(modelFor('weather'), find, conversation);
      expect(toolResults).toMatchObject([{ output: ['about weather'] }]);
    }
  });

  it('hand the advice about errors to the model', async () => {
    const read: string[] = [];
    const model = new MockLanguageModelV3({
      doGenerate: ({ prompt }) => {
        read.push(JSON.stringify(prompt[0]));
        const input = JSON.stringify({ query: `q-${prompt.length}` });
        return Promise.resolve({
          content: [{ type: 'tool-call', toolCallId: `c-${prompt.length}`, toolName: 'search', input }],
          finishReason: { unified: 'tool-calls', raw: undefined },
          usage: {
            inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
            outputTokens: { total: 1, text: 1, reasoning: 0 },
          },
          warnings: [],
        });
      },
    });
    const search: ai.Tool = {
      inputSchema: z.object({ query: z.string() }),
      execute: () => Promise.reject(new DOMException('late', 'TimeoutError')),
    };
    const tools = wrapping.openConversation('c-1', 'ada').wrapTools({ search });
    await wrapping.generateWithAdvice(model as ai.LanguageModel, tools);
    expect(read.map((text) => text.includes('"role":"system"')).indexOf(true)).toBe(11);
    expect(read[11]).toContain('search');
  });

  it('check the tools of OpenAI Agents', async () => {
    let asked = 0;
    const model: agents.Model = {
      getResponse({ input }) {
        asked += 1;
        const text = JSON.stringify(input);
        const call = { type: 'function_call', callId: 'c', name: 'search', arguments: '{"query":"localhost"}' };
        const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
        const output = [{ status: 'completed', ...(asked === 1 ? call : said) }];
        return Promise.resolve({ usage: new agents.Usage(), output } as agents.ModelResponse);
      },
      getStreamedResponse: () => expect.fail('streamed'),
    };
    agents.setTracingDisabled(true);
    expect(await wrapping.runAgents(model, find)).toContain('Only public pages.');
  });

  it('check the functions of OpenAI', async () => {
    const { fetch } = answeringFetch(({ messages }) => {
      const isFirst = (messages as JsonObject[]).length === 1;
      const call = { id: 'c', type: 'function', function: { name: 'search', arguments: '{"query":"localhost"}' } };
      const message = { role: 'assistant', ...(isFirst ? { content: null, tool_calls: [call] } : { content: 'done' }) };
      return { id: 'x', choices: [{ index: 0, finish_reason: 'stop', message }] };
    });
    const openai = new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1', fetch, maxRetries: 0 });
    await expect(wrapping.runTools(openai, find)).rejects.toThrow('Only public pages.');
  });

  it('show code and reason of a block', async () => {
    const search = wrapping.gate.wrapTool({ name: 'search', execute: async () => ['x'] });
    expect(await wrapping.call(search)).toBe('HOOK_BLOCKED: Only public pages.');
  });

  it('let rules decide, and stop an agent that reads the same page again and again', async () => {
    const read: string[] = [];
    const page = (url: string): Promise<string> => (read.push(url), Promise.resolve('Hello.'));
    const options = { toolCallId: 'c', messages: [], context: {} };
    const fetch = wrapping.wrapRead(page);
    const open = (url: string): Promise<string> => Promise.resolve(fetch.execute!({ url }, options) as Promise<string>);
    await expect(open('https://example.com.evil.test/')).rejects.toThrow(
      'Rule "own-sites" denies this call of web.fetch: Only our own sites.',
    );
    for (let time = 1; time <= 5; time += 1) expect(await open('https://example.com/')).toBe('Hello.');
    expect(await open('https://example.com/')).toMatch(/^Hello\.\n\nYou have called web\.fetch 5 times/);
    for (let time = 7; time <= 8; time += 1) await open('https://example.com/');
    await expect(open('https://example.com/')).rejects.toMatchObject({ code: 'LOOP_BLOCKED' });
    expect(read).toHaveLength(8);
    const pay = wrapping.ruled.wrapTool({ execute: async () => 'paid' }, { id: 'bank.pay' });
    await expect(pay.execute()).rejects.toMatchObject({ code: 'APPROVAL_NO_ROUTE' });
  });

  it('ask at a desk', async () => {
    const asked: GateQuestion[] = [];
    const plugin = defineHooks({
      id: 'p',
      hooks: [{ id: 'h', on: 'before_tool_call', run: () => ({ requireApproval: { reason: 'Look.' } }) }],
    });
    const desk = (decision: ApprovalDecision) =>
      wrapping.askAtDesk(
        { post: (question) => (asked.push(question), Promise.resolve('q-1')), answer: () => Promise.resolve(decision) },
        plugin,
      );
    const definition = { name: 'pay', execute: async (input: object) => input };
    expect(await desk('allow-once').wrapTool(definition).execute({ amount: 1 })).toStrictEqual({ amount: 1 });
    await expect(desk('deny').wrapTool(definition).execute({ amount: 1 })).rejects.toMatchObject({
      code: 'APPROVAL_DENIED',
    });
    expect(asked).toHaveLength(2);
  });
});
