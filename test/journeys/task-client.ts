import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  type RawClientDispatch,
  type TaskEnabledSession,
} from '@modelcontextprotocol/ext-tasks/client';
import { eventually } from '../support/process.ts';
import { BACK, type AskingClient, type Door } from './asked-call.ts';

const PROTOCOL = '2026-07-28';
const INFO = { name: 'journey', version: '1' };

/** A client with the tasks extension: it gets a task instead of a result, and may ask for the result later, over any connection. */
export function createTaskClient(door: Door): AskingClient {
  const connected = openSession(door);
  return {
    ask(name, args) {
      const begun = connected.then(async ({ session }) => {
        const execution = await session.callTool(name, args as never);
        if (execution.kind !== 'task') throw new Error('The call became no task.');
        const reference = execution.serializeReference();
        await execution.detach();
        return reference;
      });
      begun.catch(() => undefined);
      const settle = async (): Promise<CallToolResult> => {
        const { session } = await connected;
        const execution = await session.resumeTask(await begun);
        const { outcome } = await execution.settle();
        return resultFromTaskOutcome(outcome) as CallToolResult;
      };
      return {
        sent: () => 1,
        told: begun.then(async ({ taskId }) => {
          const { status, statusMessage = '' } = await (await connected).session.task(taskId).snapshot();
          return `${status}: ${statusMessage}`;
        }),
        end: () => eventually(settle, BACK),
      };
    },
    async close() {
      const { session, client } = await connected;
      await session.close();
      await client.close();
    },
  };
}

async function openSession(door: Door): Promise<{ readonly session: TaskEnabledSession; readonly client: Client }> {
  const client = new Client(INFO, { versionNegotiation: { mode: { pin: PROTOCOL } } });
  const requestInit = { headers: { authorization: `Bearer ${door.token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${door.url}/mcp`), { requestInit }));
  const session = createTaskSessionFromClient(client, {
    endpointId: door.url,
    rawDispatch: dispatchTo(door),
    v2RequestFraming: { protocolVersion: PROTOCOL, clientInfo: INFO, clientCapabilities: {} },
  });
  return { session, client };
}

/** Sends requests without the SDK's client, which does not let the shapes of the extension through. */
function dispatchTo({ url, token }: Door): RawClientDispatch {
  let requests = 0;
  return async (request, { signal } = {}) => {
    const { method, params } = request as { method: string; params: { name?: string; taskId?: string } };
    const name = params.name ?? params.taskId;
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': PROTOCOL,
        'mcp-method': method,
        ...(name === undefined ? {} : { 'mcp-name': name }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: (requests += 1), method, params }),
      ...(signal === undefined ? {} : { signal }),
    });
    const answer = messageOf(await response.text()) as { result?: never; error?: never };
    return answer.error === undefined
      ? { kind: 'result', result: answer.result! }
      : { kind: 'error', error: answer.error };
  };
}

/** The last message of a stream of events, or the only one. */
function messageOf(text: string): unknown {
  const events = text.split('\n').filter((line) => line.startsWith('data: {'));
  return JSON.parse(events.at(-1)?.slice('data: '.length) ?? text);
}
