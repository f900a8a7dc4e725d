import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallEvent, CallOptions, SessionHandle } from '../../src/exports/client.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { eventually } from '../support/process.ts';
import { stagePlane, type StagedPlane } from './support/stage-plane.ts';

const FOLDER = fileURLToPath(new URL('../fixtures/everything', import.meta.url));
const accept = (content: JsonObject): JsonObject => ({ action: 'accept', content });

/** The module for the conformance suite of MCP, called without MCP. The tests of MCP call it over that protocol. */
describe('the module with everything', () => {
  let plane: StagedPlane;
  let session: SessionHandle;
  let changing: string;
  beforeAll(async () => {
    plane = await stagePlane('embedded');
    changing = join(plane.folder, 'changing.mjs');
    const modules = join(plane.folder, 'modules.json');
    const everything = { id: 'everything', file: join(FOLDER, 'everything.mjs'), setup: { changing } };
    writeFileSync(modules, JSON.stringify([everything, { id: 'changing', file: changing }]));
    await plane.startWorker({ modules, watch: true });
    session = await plane.openSession();
  });
  afterAll(() => plane.stop());

  async function call(tool: string, args: JsonObject = {}, options: CallOptions = {}) {
    const answer = await plane.client.call(session, `everything.${tool}`, args, { waitMs: 60_000, ...options });
    if (answer.kind !== 'settled') throw new Error(`It is ${answer.kind}.`);
    return answer;
  }

  const textOf = async (tool: string, args: JsonObject, options: CallOptions): Promise<unknown> => {
    const [block] = (await call(tool, args, options)).outcome.content;
    return block?.kind === 'text' ? block.text : block;
  };

  it.each([
    ['test_simple_text', [{ kind: 'text', text: 'This is a simple text response for testing.' }]],
    ['test_image_content', [{ kind: 'image', mediaType: 'image/png' }]],
    ['test_audio_content', [{ kind: 'audio', mediaType: 'audio/wav' }]],
    [
      'test_embedded_resource',
      [{ kind: 'resource', uri: 'test://embedded-resource', text: 'This is an embedded resource content.' }],
    ],
    ['test_multiple_content_types', [{ kind: 'text' }, { kind: 'image' }, { kind: 'resource' }]],
    ['test_error_handling', [{ kind: 'text', text: 'This tool intentionally returns an error for testing' }]],
  ])('%s answers with its content', async (tool, content) => {
    expect((await call(tool)).outcome.content).toMatchObject(content);
  });

  it('logs and reports progress while it runs', async () => {
    const events: CallEvent[] = [];
    const onEvent = (event: CallEvent): void => void events.push(event);
    await call('test_tool_with_logging', {}, { onEvent });
    await call('test_tool_with_progress', {}, { onEvent });
    expect(events.flatMap((event) => (event.kind === 'logged' ? [event.data] : []))).toStrictEqual([
      'Tool execution started',
      'Tool processing data',
      'Tool execution completed',
    ]);
    expect(events.flatMap((event) => (event.kind === 'progress' ? [event.done] : []))).toStrictEqual([0, 50, 100]);
  });

  it.each([
    ['test_input_required_result_elicitation', { user_name: accept({ name: 'Alice' }) }, 'Hello, Alice!'],
    [
      'test_input_required_result_sampling',
      { capital_question: { role: 'assistant', content: { type: 'text', text: 'Paris' } } },
      'Paris',
    ],
    ['test_input_required_result_list_roots', { client_roots: { roots: [{ uri: 'file:///a' }] } }, 'Roots: file:///a'],
    ['test_input_required_result_request_state', { confirm: accept({ ok: true }) }, 'state-ok'],
    [
      'test_elicitation_sep1034_defaults',
      { form: { action: 'decline' } },
      'Elicitation completed: action=decline, content={}',
    ],
    [
      'test_elicitation_sep1330_enums',
      { form: accept({ untitledSingle: 'option1', titledSingle: 'value1', titledMulti: ['value1', 'value2'] }) },
      'Elicitation completed: action=accept, content={"titledMulti":["value1","value2"],"titledSingle":"value1","untitledSingle":"option1"}',
    ],
    ['confirm_delete', { confirm: accept({ confirm: true }) }, 'Deleted file.txt.'],
  ])('%s asks, and answers when it was answered', async (tool, responses, text) => {
    const asked = await call(tool);
    expect(Object.keys(asked.input!.requests)).toStrictEqual(Object.keys(responses));
    expect(await textOf(tool, {}, { input: { responses, of: asked.callId } })).toBe(text);
  });

  it('asks in rounds with another state each time', async () => {
    const first = await call('test_input_required_result_multi_round');
    const second = await call(
      'test_input_required_result_multi_round',
      {},
      { input: { responses: { step1: accept({ name: 'Alice' }) }, of: first.callId } },
    );
    expect(Object.keys(second.input!.requests)).toStrictEqual(['step2']);
    expect(second.input!.state).not.toBe(first.input!.state);
    const input = { responses: { step2: accept({ color: 'blue' }) }, of: second.callId };
    expect(await textOf('test_input_required_result_multi_round', {}, { input })).toBe('Alice likes blue.');
  });

  it('asks only for what the caller can be asked for', async () => {
    const { input } = await call('test_input_required_result_capabilities', {}, { input: { kinds: ['sample'] } });
    expect(Object.keys(input!.requests)).toStrictEqual(['greeting']);
    const { outcome } = await call('test_missing_capability', {}, { input: { kinds: [] } });
    expect(outcome.error).toMatchObject({ code: 'INPUT_UNAVAILABLE', facts: { kinds: ['sample'] } });
  });

  it('has the resources and prompts', async () => {
    expect(await plane.client.readResource(session, 'test://template/123/data')).toMatchObject({
      contents: [{ mediaType: 'application/json', text: '{"id":"123","templateTest":true,"data":"Data for ID: 123"}' }],
    });
    expect(
      await plane.client.getPrompt(session, 'test_prompt_with_arguments', { arg1: 'hello', arg2: 'world' }),
    ).toMatchObject({ messages: [{ content: { text: "Prompt with arguments: arg1='hello', arg2='world'" } }] });
    expect(await plane.client.getPrompt(session, 'test_input_required_result_prompt')).toMatchObject({
      kind: 'settled',
      input: { requests: { user_context: { kind: 'elicit' } } },
    });
    const responses = { user_context: accept({ context: 'tests' }) };
    expect(
      await plane.client.getPrompt(session, 'test_input_required_result_prompt', {}, { input: { responses } }),
    ).toMatchObject({ messages: [{ content: { text: 'Use this context: tests' } }] });
  });

  it('changes the lists of another module', async () => {
    expect(existsSync(changing)).toBe(false);
    await call('test_trigger_tool_change');
    await eventually(async () => {
      const { tools } = await plane.client.toolkit(session);
      return tools.some(({ tool }) => tool.id === 'changing.changing_tool');
    });
    await call('test_trigger_prompt_change');
    await eventually(async () => {
      const prompts = await plane.client.prompts(session);
      return prompts.some(({ name, description }) => name === 'changing_prompt' && description.includes('Version'));
    });
  });
});
