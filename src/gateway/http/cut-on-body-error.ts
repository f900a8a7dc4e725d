/** Responses of these types are made in one piece, so their stream cannot break. */
const WHOLE_TYPES = /^application\/(?:problem\+)?json\b/;

/**
 * Wraps a response so that its stream never fails: the Node adapter of the framework would write the error to the client and to the console
 * of the process. If the stream breaks, `cut` closes the connection, so that the client does not take the part it has for the whole.
 */
export function cutOnBodyError(response: Response, cut: (error: unknown) => void): Response {
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null || WHOLE_TYPES.test(type)) return response;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const calm = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        cut(error);
        controller.close();
      }
    },
    cancel: (reason) => reader.cancel(reason).catch(() => undefined),
  });
  const { status, statusText, headers } = response;
  return new Response(calm, { status, statusText, headers });
}
