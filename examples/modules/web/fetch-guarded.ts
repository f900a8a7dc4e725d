import { denied, ToolFailure } from 'sallyport/tool';
import { guardedRequest, WebRefusal, type WebRequest, type WebResponse, type WebRules } from 'sallyport/web';

/** Fetches through the guard of the package. When the guard refuses a request, the model gets the guard's own message. */
export async function fetchGuarded(
  request: WebRequest,
  rules: WebRules & { readonly maxBytes: number },
  signal: AbortSignal,
): Promise<WebResponse> {
  try {
    return await guardedRequest(request, rules, signal);
  } catch (error) {
    if (!(error instanceof WebRefusal)) throw error;
    if (error.isDenial) denied(error.message, { code: error.code });
    throw new ToolFailure(error.message, { code: error.code, cause: error.cause ?? error });
  }
}
