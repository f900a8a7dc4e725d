import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends bytes unchanged, including bytes that no HTTP client would send, and reads until the server closes the connection. */
export function exchange(port: number, text: string | Uint8Array): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that refuses early closes the connection while bytes are still being sent.
    socket.on('error', (error) => (chunks.length === 0 ? reject(error) : finish()));
    socket.on('close', () => finish());
    socket.write(text);
    function finish(): void {
      socket.destroy();
      const answer = parseAnswer(Buffer.concat(chunks).toString('latin1'));
      if (answer === undefined) reject(new Error('closed without an answer'));
      else resolve(answer);
    }
  });
}

/** The first HTTP response in the text; undefined if it is incomplete. */
export function parseAnswer(text: string): RawAnswer | undefined {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3})/.exec(first)?.[1];
  if (end < 0 || status === undefined) return undefined;
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(status), headers, body: text.slice(end + 4) };
}

/** Opens a socket; resolves when it is connected. */
export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
}
