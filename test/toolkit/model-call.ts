import type { JsonObject } from '../../src/base/json.ts';
import { toolNames } from '../../src/modules/toolkit/named-tools.ts';
import { sampleToolkit, SUMMARISE_ID } from '../support/sample-toolkit.ts';

/** A call for every tool of the sample toolkit, as a model would write its arguments. */
export const CALLS: readonly { readonly tool: string; readonly args: JsonObject }[] = [
  { tool: '7zip.list', args: { file: 'a.zip' } },
  { tool: 'clock.now', args: { timeZone: 'Europe/Zürich', form: 'iso' } },
  { tool: 'my__notes.add', args: { root: { text: 'a', below: [{ text: 'b', below: [] }] }, at: null } },
  { tool: SUMMARISE_ID, args: {} },
];

export interface SentTool {
  readonly name: string;
  readonly schema: unknown;
}

/**
 * What a model would do with the tools that it got: calls them by the names that were sent. It finds its arguments by position only, so
 * that the code under test has to map names back to ids.
 */
export function callsByModel(sent: readonly SentTool[]): { readonly name: string; readonly args: JsonObject }[] {
  return sent.map(({ name }, index) => ({ name, args: CALLS[index]!.args }));
}

export function backToTools(said: readonly { readonly name: string; readonly args: unknown }[]) {
  const { toolIdOf } = toolNames(sampleToolkit());
  return said.map(({ name, args }) => ({ tool: toolIdOf(name), args }));
}

/** The schemas as published, in the order of the ids. They have to arrive unchanged. */
export const PUBLISHED_SCHEMAS = sampleToolkit().map(({ tool }) => tool.inputSchema);

/** Answers the requests of a client within this process, so that nothing is sent. */
export function answeringFetch(answer: (body: JsonObject) => unknown): { fetch: typeof fetch; bodies: string[] } {
  const bodies: string[] = [];
  return {
    bodies,
    fetch: (_input, init) => {
      const body = init?.body as string;
      bodies.push(body);
      return Promise.resolve(Response.json(answer(JSON.parse(body) as JsonObject)));
    },
  };
}
