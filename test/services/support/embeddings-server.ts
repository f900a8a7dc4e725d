import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AskedEmbeddings {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly model: string; readonly input: readonly string[]; readonly dimensions?: number };
}

/** A server that speaks the embeddings API, and whose answers a test can replace. */
export interface EmbeddingsServer {
  readonly baseUrl: string;
  readonly asked: AskedEmbeddings[];
  /** May answer a request in place of the model; returns true if it has. */
  instead: (asked: AskedEmbeddings, response: ServerResponse, count: number) => boolean;
  stop(): Promise<void>;
}

const TOPICS = [/\b(cat|kitten|feline)/i, /\b(train|railway|station)/i, /\b(soup|dinner|meal)/i];

export const vectorOf = (text: string): number[] => [...TOPICS.map((topic) => (topic.test(text) ? 1 : 0)), 0.05];

export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Sends the embeddings in reverse, because the API allows any order: each one has its index. */
function sendEmbeddings(response: ServerResponse, { body }: AskedEmbeddings): void {
  const data = body.input.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }));
  const usage = { prompt_tokens: 1, total_tokens: 1 };
  sendJson(response, 200, { object: 'list', model: body.model, usage, data: data.reverse() });
}

export async function startEmbeddingsServer(): Promise<EmbeddingsServer> {
  const asked: AskedEmbeddings[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as AskedEmbeddings['body'];
      const one: AskedEmbeddings = { path: `${request.method} ${request.url}`, headers: request.headers, body };
      asked.push(one);
      if (!handle.instead(one, response, asked.length)) sendEmbeddings(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const handle: EmbeddingsServer = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    instead: () => false,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return handle;
}
