import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './process.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly message: Record<string, unknown>;
}

/** A real HTTP server that keeps what it was sent and answers as the test defines. */
export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Answers the requests to come; by default with 204. */
  answer: (response: ServerResponse, count: number) => void;
  until(count: number): Promise<readonly Received[]>;
  stop(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const message = JSON.parse(body.toString()) as Record<string, unknown>;
      received.push({ path: request.url!, headers: request.headers, body, message });
      receiver.answer(response, received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/approvals?key=of-the-path`,
    received,
    answer: (response) => void response.writeHead(204).end(),
    until: (count) =>
      eventually(() => (received.length >= count ? received : undefined), { what: `${count} requests` }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
