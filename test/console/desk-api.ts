import { eventually } from '../support/process.ts';
import type { ConsoleBrowser } from './browser.ts';
import type { Asker, DeskPlane } from './desk-plane.ts';

/** The desk over HTTP, as a program would use it. Much faster than one command per call. */
export interface DeskApi {
  /** Makes a call and waits for its end. */
  call(tool: string, args: object, by?: Asker): Promise<{ readonly callId: string; readonly kind: string }>;
  /** Makes a call that needs an approval, and waits for the question. */
  ask(tool: string, args: object, by?: Asker): Promise<{ readonly id: string; readonly binding: string }>;
  /** Sends a request with a token that has all scopes. */
  send(method: 'POST' | 'PUT', path: string, body: object): Promise<unknown>;
}

const WAIT_MS = 20_000;

export async function openDeskApi({ url }: DeskPlane, browser: ConsoleBrowser): Promise<DeskApi> {
  const send = async (bearer: string, path: string, body?: object, method = 'POST'): Promise<unknown> => {
    const answer = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  const operator = await makeOperator(url, browser);
  const bearers = new Map<string, Promise<string>>();
  const bearerOf = ({ agent = 'support', subject = 'lena' }: Asker = {}): Promise<string> => {
    const name = `${agent} ${subject}`;
    const made =
      bearers.get(name) ??
      send(operator, '/v1/tokens', { name, scopes: ['agent'], identity: { agent, subject } }).then(
        (answer) => (answer as { text: string }).text,
      );
    bearers.set(name, made);
    return made;
  };
  return {
    async call(tool, args, by) {
      const answer = await send(await bearerOf(by), '/v1/calls', { tool, arguments: args, waitMs: WAIT_MS });
      const { callId, outcome } = answer as { callId: string; outcome: { kind: string } };
      return { callId, kind: outcome.kind };
    },
    async ask(tool, args, by) {
      const { callId } = (await send(await bearerOf(by), '/v1/calls', { tool, arguments: args, waitMs: 0 })) as {
        callId: string;
      };
      return eventually(
        async () => {
          const { items } = (await send(operator, '/v1/approvals?state=pending')) as {
            items: { id: string; callId: string; binding: string }[];
          };
          return items.find((approval) => approval.callId === callId);
        },
        { what: `a question about ${callId}` },
      );
    },
    send: (method, path, body) => send(operator, path, body, method),
  };
}

/** Creates a token with the cookie of a signed-in user, as the console does. */
async function makeOperator(url: string, browser: ConsoleBrowser): Promise<string> {
  const signedIn = await browser.signIn();
  const answer = await signedIn.page.request.post(`${url}/v1/tokens`, {
    headers: { 'sallyport-console': '1', origin: url },
    data: { name: 'test', scopes: ['operator', 'approver', 'admin'] },
  });
  const { text } = (await answer.json()) as { text: string };
  await signedIn.close();
  return text;
}
