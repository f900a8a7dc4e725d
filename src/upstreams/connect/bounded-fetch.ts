import type { FetchLike } from '@modelcontextprotocol/client';
import { UpstreamProblem } from '../upstream-problem.ts';

/**
 * A fetch for servers of strangers. It follows no redirect: the server could send the worker, with its credentials, to an address inside the
 * operator's network. A body, or one event of an event stream, may not be larger than `maxBytes`.
 */
export function boundedFetch(maxBytes: number): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, { ...init, redirect: 'manual' });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new UpstreamProblem(`it redirects to another address (HTTP ${response.status}), which is not followed`);
    }
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const { status, statusText, headers } = response;
    const bounded = new Response(response.body.pipeThrough(limitBytes(maxBytes, isStream)), {
      status,
      statusText,
      headers,
    });
    // A response that was made here has no address of its own.
    Object.defineProperty(bounded, 'url', { value: response.url });
    return bounded;
  };
}

/** In an event stream an empty line ends an event, and the count begins again. */
function limitBytes(maxBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const end = isStream ? Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n')) : -1;
      bytes = end === -1 ? bytes + chunk.byteLength : chunk.byteLength - end;
      if (bytes > maxBytes) controller.error(new UpstreamProblem(`it sent a message of more than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
