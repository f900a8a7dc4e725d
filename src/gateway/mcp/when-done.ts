/** Returns the same response. `done` is called once: when the stream has ended or its client has gone, or at once if there is no stream. */
export function whenDone(response: Response, done: () => void): Response {
  if (response.body === null || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
    done();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done: ended, value } = await reader.read();
      if (!ended) return controller.enqueue(value);
      done();
      controller.close();
    },
    async cancel(reason) {
      done();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
