import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';
import { eventually } from '../support/process.ts';
import { BACK, type AskingClient, type Door } from './asked-call.ts';
import { createTaskClient } from './task-client.ts';

export const CLIENTS = {
  'a client of 2026-07-28 with forms': (door: Door) => createFormClient(door, '2026-07-28'),
  'a client of 2025-11-25 with forms': (door: Door) => createFormClient(door, '2025-11-25'),
  'a client without forms': createPlainClient,
  'a client with tasks': createTaskClient,
} as const;

type Era = '2026-07-28' | '2025-11-25';

/** A client with forms. Its user leaves the form open until `end` is called, and then submits it without a decision. */
function createFormClient(door: Door, era: Era): AskingClient {
  const opened = new Set<Client>();
  return {
    ask(name, args) {
      const form = later<string>();
      const answer = later<{ action: 'accept'; content: object }>();
      // All attempts send the same key, so they are one call, however often its gateway goes away.
      const key = randomUUID();
      let sent = 0;
      const send = async (): Promise<CallToolResult> => {
        const client = await connect(door, era, { elicitation: { form: {} } });
        opened.add(client);
        sent += 1;
        client.setRequestHandler('elicitation/create', ({ params }) => {
          form.resolve(params.message);
          return answer.promise as never;
        });
        return callUntilGone(client, { name, arguments: args, _meta: { 'sallyport/idempotencyKey': key } });
      };
      const first = send();
      first.catch(() => undefined);
      return {
        sent: () => sent,
        // If no form is shown, the call has ended without a question.
        told: Promise.race([form.promise, first.then((ended) => `It has ended: ${textOf(ended)}`)]),
        async end() {
          answer.resolve({ action: 'accept', content: {} });
          return first.catch(() => eventually(send, BACK));
        },
      };
    },
    async close() {
      await Promise.all([...opened].map((client) => client.close()));
    },
  };
}

/** A client without forms and tasks: it gets the id of its call, and sends the call again with that id. */
function createPlainClient(door: Door): AskingClient {
  const connected = connect(door, '2026-07-28', {});
  return {
    ask(name, args) {
      const first = connected.then((client) => client.callTool({ name, arguments: { ...args } }));
      const again = async (): Promise<CallToolResult> => {
        const _meta = { 'sallyport/callId': callIdOf(await first) };
        return (await connected).callTool({ name, arguments: { ...args }, _meta });
      };
      return {
        sent: () => 1,
        told: first.then(textOf),
        async end() {
          let result = await first;
          while ('sallyport/state' in (result._meta ?? {})) {
            result = await eventually(again, BACK);
          }
          return result;
        },
      };
    },
    close: async () => (await connected).close(),
  };
}

async function connect({ url, token }: Door, era: Era, capabilities: object): Promise<Client> {
  const client = new Client(
    { name: 'journey', version: '1' },
    { capabilities, ...(era === '2026-07-28' ? { versionNegotiation: { mode: { pin: era } } } : {}) },
  );
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return client;
}

/** Rejects when the stream of the answer breaks off; the SDK would wait for its timeout. */
async function callUntilGone(client: Client, params: Parameters<Client['callTool']>[0]): Promise<CallToolResult> {
  const gone = new AbortController();
  client.onerror = (error) => {
    if (error.message.startsWith('SSE stream disconnected')) gone.abort(error);
  };
  return client.callTool(params, { signal: gone.signal });
}

export function callIdOf({ _meta }: CallToolResult): string {
  return String(_meta?.['sallyport/callId']);
}

export function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

function later<Value>(): { readonly promise: Promise<Value>; readonly resolve: (value: Value) => void } {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((done) => (resolve = done));
  return { promise, resolve };
}
